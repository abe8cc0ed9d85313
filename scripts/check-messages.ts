import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { IntlMessageFormat } from "intl-messageformat";
import { parsePo } from "pofile-ts";
import { languages, sourceLanguage } from "../shared/languages.ts";

/**
 * Checks the translations: the catalogs have exactly the texts in the code, each translation has the values and tags of the
 * English text, and those of a language that users can choose are all translated. With --write, brings the catalogs up to
 * date first.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const folders = ["web/locales", "server/platform/language/locales"];
const problems: string[] = [];

const before = readCatalogs();
// One worker: each loads Babel, which takes longer than a second one saves.
const extract = ["node_modules/@lingui/cli/dist/lingui.js", "extract", "--clean", "--workers", "1"];
const { status, stderr } = spawnSync(process.execPath, extract, { cwd: root, encoding: "utf8" });
if (status !== 0) problems.push(`lingui extract failed: ${stderr.trim()}`);
const after = readCatalogs();
for (const [path, text] of after)
  if (!process.argv.includes("--write") && before.get(path) !== text)
    problems.push(`${path} was out of date, and has been updated; commit it`);

for (const language of Object.keys(languages).filter((each) => each !== sourceLanguage))
  for (const path of folders.map((folder) => `${folder}/${language}.po`))
    if (!after.has(path)) problems.push(`${path} is missing; see docs/languages.md`);

for (const [path, text] of after) {
  const language = path.slice(path.lastIndexOf("/") + 1, -".po".length);
  if (language === sourceLanguage) continue;
  for (const { msgid, msgstr } of parsePo(text).items) {
    const [translation = ""] = msgstr;
    if (translation !== "") checkTranslation(path, msgid, translation);
    else if (language in languages) problems.push(`${path} has no translation of: ${msgid}`);
  }
}

for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

function checkTranslation(path: string, english: string, translation: string): void {
  try {
    const [wanted, found] = [namesIn(english), namesIn(translation)];
    if (wanted.join() !== found.join())
      problems.push(
        `${path} has other values or tags (${found.join(", ")}) than (${wanted.join(", ")}): ${english}`,
      );
  } catch (error) {
    problems.push(`${path} has a translation that can't be read (${(error as Error).message}): ${english}`);
  }
}

/** The names of the values in a text, and its tags, which may be numbers as in `<0>`. */
function namesIn(text: string): readonly string[] {
  const names = new Set(text.match(/<\/?\w+\/?>/g));
  const collect = (tree: ReturnType<IntlMessageFormat["getAst"]>): void => {
    for (const node of tree) {
      // The types of literals and of `#`.
      if (node.type !== 0 && node.type !== 7) names.add(node.value);
      if ("children" in node) collect(node.children);
      if ("options" in node) for (const { value } of Object.values(node.options)) collect(value);
    }
  };
  collect(new IntlMessageFormat(text, sourceLanguage, undefined, { ignoreTag: true }).getAst());
  return [...names].sort();
}

/** The texts of the catalogs by path. */
function readCatalogs(): Map<string, string> {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".po"))
      .map((name) => `${folder}/${name}`),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}
