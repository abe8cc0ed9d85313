import { globSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { analyse } from "scslre";
import { parseSync } from "vite";

/** Code that runs on servers and in browsers; tests and benches read only their own input. */
const folders = ["cli", "contract", "demo", "scripts", "server", "shared", "web"];
const notShipped = /\.test\.ts$|\/test\/|^web\/dist\//;

/** Allows a pattern if the line above says `// Bounded: <why its input is short>` or `// Linear: <why it is>`. */
const reason = /^\s*\/\/ (?:Bounded|Linear): \S/;

/** What is wrong with a regular expression; undefined if it takes linear time. */
export function findViolations(source: string, flags: string): string[] {
  return analyse({ source, flags }, { maxReports: 3 }).reports.map((report) => {
    const degree = report.exponential ? "exponential" : "quadratic or worse";
    return report.type === "Move"
      ? `${degree}: it is tried from each character and may fail far behind it`
      : `${degree}: two of its repetitions can take the same characters`;
  });
}

/** The problems of all patterns in a TypeScript source, with their lines. */
export function findProblemsIn(path: string, text: string): string[] {
  const lines = text.split("\n");
  const problems: string[] = [];
  const report = (start: number, what: string): void => {
    const line = text.slice(0, start).split("\n").length;
    if (!reason.test(lines[line - 2] ?? "")) problems.push(`${path}:${line}: ${what}`);
  };
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const child of node) visit(child);
      return;
    }
    if (typeof node !== "object" || node === null) return;
    const { type, start, regex, callee } = node as {
      readonly type?: unknown;
      readonly start: number;
      readonly regex?: { readonly pattern: string; readonly flags: string };
      readonly callee?: { readonly type: string; readonly name?: string };
    };
    if (type === "Literal" && regex) {
      for (const problem of findViolations(regex.pattern, regex.flags))
        report(start, `/${regex.pattern}/${regex.flags} is ${problem}`);
    }
    if ((type === "NewExpression" || type === "CallExpression") && callee?.name === "RegExp")
      report(start, "a pattern made at run time can't be checked; write a literal, or say why it is linear");
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(path, text).program);
  return problems;
}

function check(): void {
  const paths = globSync(folders.map((folder) => `${folder}/**/*.{ts,tsx}`)).filter(
    (path) => !notShipped.test(path),
  );
  const problems = paths.sort().flatMap((path) => {
    const text = readFileSync(path, "utf8");
    // Parsing takes most of the time, and few files have a pattern.
    return /\/[^/\n]+\/|RegExp/.test(text) ? findProblemsIn(path, text) : [];
  });
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length === 0) return;
  process.stderr.write(
    `${problems.length} regular expressions take more than linear time. Rewrite them, or say above why the input is short: // Bounded: …\n`,
  );
  process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) check();
