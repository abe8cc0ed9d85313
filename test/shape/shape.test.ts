import assert from "node:assert/strict";
import { test } from "node:test";
import { importsOf, readSources } from "./sources.ts";

/**
 * The shape of the house (design, section 2): which folder may import which. A folder not named may be imported by
 * every folder of the same root.
 */
const sources = readSources();

test("direction: contract imports nothing but itself", () => {
  for (const source of sources.filter(({ path }) => path.startsWith("contract/"))) {
    for (const target of importsOf(source)) {
      assert.ok(target === "zod" || target.startsWith("contract/"), `${source.path} imports ${target}`);
    }
  }
});

/** Who must not know whom: what produces an event never imports the sender, what is below never what is above. */
const forbidden: [from: string, to: string][] = [
  ["server/db/", "server/(?!db/)"],
  ["server/access/", "server/(?!db/|access/)"],
  ["server/events/", "server/(?!db/)"],
  ["server/jobs/", "server/(?!db/|jobs/)"],
  ["server/storage/", "server/(?!storage/)"],
  ["server/directory/", "server/(recordings|uploads|hooks)/"],
  ["server/recordings/", "server/(uploads|hooks)/"],
  ["server/uploads/", "server/hooks/"],
  ["server/http/", "server/(recordings|uploads|hooks|accounts|directory)/"],
  ["test/acceptance/", "server/"],
  ["web/", "(server|cli|test)/"],
];

test("direction: no folder imports what is above it", () => {
  for (const [from, to] of forbidden) {
    const pattern = new RegExp(`^${to}`);
    for (const source of sources) {
      if (!source.path.startsWith(from) || source.path.endsWith(".test.ts")) continue;
      for (const target of importsOf(source))
        assert.ok(!pattern.test(target), `${source.path} imports ${target}`);
    }
  }
});

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
  const clients = /(\.test\.ts|^test\/|^bench\/|^cli\/(serve|demo)\.ts|^server\/config-values\.ts)/;
  for (const source of sources) {
    if (source.path === "contract/versions.ts" || clients.test(source.path)) continue;
    const code = source.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    assert.doesNotMatch(code, /2025-10-31|2026-10-01/, source.path);
  }
});

test("files stay small: at most 300 lines, tests 500", () => {
  for (const source of sources) {
    if (source.path === "server/db/types.ts" || source.path.startsWith("cli/demo/meetings/")) continue;
    const lines = source.text.split("\n").length;
    const most = source.path.includes(".test.") ? 500 : 300;
    assert.ok(lines <= most, `${source.path} has ${lines} lines`);
  }
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

test("no path of a machine and no registry host in the repository", () => {
  const banned = new RegExp(["/wo" + "rk/", "/ro" + "ot/", "registry\\.npm" + "js"].join("|"));
  for (const source of readSources([".ts", ".cjs", ".js", ".json", ".md", ".sql"]))
    assert.doesNotMatch(source.text, banned, source.path);
});
