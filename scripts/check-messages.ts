import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatter } from "@lingui/format-po";
import { languages, sourceLanguage } from "../shared/languages.ts";

/**
 * Checks the translations of the web app: the catalogs have exactly the texts in the code, and those of a language that users
 * can choose are all translated. With --write, brings the catalogs up to date first.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "web", "locales");
const problems: string[] = [];

const before = readCatalogs();
const extract = ["node_modules/@lingui/cli/dist/lingui.js", "extract", "--clean"];
const { status, stderr } = spawnSync(process.execPath, extract, { cwd: root, encoding: "utf8" });
if (status !== 0) problems.push(`lingui extract failed: ${stderr.trim()}`);
const after = readCatalogs();
for (const [name, text] of after)
  if (!process.argv.includes("--write") && before.get(name) !== text)
    problems.push(`web/locales/${name} was out of date, and has been updated; commit it`);

for (const language of Object.keys(languages).filter((each) => each !== sourceLanguage)) {
  const text = after.get(`${language}.po`);
  if (text === undefined) {
    problems.push(`web/locales/${language}.po is missing; see docs/languages.md`);
    continue;
  }
  const catalog = await formatter().parse(text, {
    locale: language,
    sourceLocale: sourceLanguage,
    filename: `${language}.po`,
  });
  for (const { message = "", translation = "" } of Object.values(catalog))
    if (translation === "") problems.push(`web/locales/${language}.po has no translation of: ${message}`);
}

for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

function readCatalogs(): Map<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".po"));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
