import assert from "node:assert/strict";
import { test } from "node:test";
import { pagePaths } from "../../contract/pages.ts";
import { importsOf, readSources } from "./sources.ts";

const sources = readSources();

test("no cycles between files", () => {
  const graph = new Map(sources.map((source) => [source.path, importsOf(source)]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), `a cycle: ${[...trail, path].join(" -> ")}`);
    if (done.has(path)) return;
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
});

test("version strings stand in contract/versions.ts alone", () => {
  // Tests, benches and what is printed for people to paste name a version as any client does.
  const clients =
    /(\.test\.ts|^test\/|^bench\/|^packages\/|^cli\/(serve|demo)\.ts|^server\/platform\/config\/(values|settings)\.ts|^web\/settings\/system\/setting-texts\.ts)/;
  for (const source of sources) {
    if (source.path === "contract/versions.ts" || clients.test(source.path)) continue;
    const code = source.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    assert.doesNotMatch(code, /2025-10-31|2026-10-01/, source.path);
  }
});

test("the server serves the web app's document at the path of each of its pages, and at no other", () => {
  const router = sources.find(({ path }) => path === "web/app/router.tsx")?.text ?? "";
  // Settings pages are below /settings/*; a parameter has its own name in both lists.
  const routed = [
    ...router.matchAll(/(?:^ {4}page\(|getParentRoute: \(\) => signedIn,)\s*(?:path: )?"([^"]+)"/gm),
  ].flatMap(([, path = ""]) => {
    const optional = path.replace(/\/\{-\$\w+\}/, "");
    return (optional === path ? [path] : [optional, `${optional}/$`]).map((one) =>
      one.replace(/\$\w*/g, ":"),
    );
  });
  const served = pagePaths.filter((path) => path !== "/settings/*").map((path) => path.replace(/:\w+/g, ":"));
  assert.deepEqual(
    routed.toSorted(),
    served.toSorted(),
    "list the page in contract/pages.ts and web/app/router.tsx",
  );
});

test("no skipped or focused tests, no notes to be done later, no leftovers of debugging", () => {
  // Written in pieces, or this file would find itself.
  const banned = new RegExp(
    ["test\\.(skip|only|todo)\\(", "\\b(TO" + "DO|FIX" + "ME|X" + "XX)\\b", "console\\.(log|debug)\\("].join(
      "|",
    ),
  );
  for (const source of sources) {
    if (source.path.startsWith("bench/") || source.path.startsWith("scripts/")) continue;
    assert.doesNotMatch(source.text, banned, source.path);
  }
});

test("no type is forced on a value that the types contradict", () => {
  const [everywhere, product] = [/\bas unknown as\b/, /\bas never\b/];
  for (const { path, text } of sources) {
    if (path === "test/shape/shape.test.ts") continue;
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    assert.doesNotMatch(code, everywhere, path);
    // A test may hand over less than a function asks for.
    if (!/\.test\.ts$|(^|\/)test\//.test(path)) assert.doesNotMatch(code, product, path);
  }
});

test("no folder has more than 20 product files", () => {
  const counts = new Map<string, number>();
  for (const { path } of [...sources, ...readSources([".css"])]) {
    if (path.startsWith("packages/") || path.startsWith("test/") || path.endsWith(".test.ts")) continue;
    const folder = path.split("/").slice(0, -1).join("/");
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  assert.deepEqual(
    [...counts].filter(([, count]) => count > 20),
    [],
  );
});

test("tests and bench name no program by its place on a machine: they run what npm brings", () => {
  for (const source of readSources([".ts", ".cjs"])) {
    if (!/^(test|bench|scripts)\/|\.test\.ts$/.test(source.path)) continue;
    assert.doesNotMatch(source.text, /\/(usr|opt)\/(local\/)?s?bin\/\w/, source.path);
  }
});

test("no path of a machine and no registry host in the repository", () => {
  const banned = new RegExp(["/wo" + "rk/", "/ro" + "ot/", "registry\\.npm" + "js"].join("|"));
  for (const source of readSources([".ts", ".cjs", ".js", ".json", ".md", ".sql"]))
    assert.doesNotMatch(source.text, banned, source.path);
});

test("styles name start and end, not left and right, so that they follow the direction of the text", () => {
  const sides = /(?:margin|padding|border|inset)-(?:left|right)|(?:top|bottom)-(?:left|right)-radius/;
  const values = /(?:text-align|float|clear):\s*(?:left|right)\b/;
  // What is centered is so in both directions.
  const edges = /(?:^|[\s;{])(?:left|right):(?! 50%)/m;
  const css = new RegExp([sides, values, edges].map(({ source }) => source).join("|"), "m");
  const properties =
    /\b(?:margin|padding|border)(?:Left|Right)\b|\s(?:m|p)[lr]=|(?:textAlign: |ta=)"(?:left|right)"/;
  for (const { path, text } of readSources([".css", ".tsx", ".ts"])) {
    // Time runs from left to right in every language.
    if (path.startsWith("web/player/")) continue;
    if (path.endsWith(".css") || path === "server/platform/pages/styles.ts")
      assert.doesNotMatch(text.replace(/\/\*[\s\S]*?\*\//g, ""), css, path);
    else if (path.startsWith("web/")) assert.doesNotMatch(text, properties, path);
  }
});
