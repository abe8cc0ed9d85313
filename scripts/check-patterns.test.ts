import assert from "node:assert/strict";
import { test } from "node:test";
import { findProblemsIn, findViolations } from "./check-patterns.ts";

test("patterns that take quadratic time or worse are found", () => {
  for (const [source, flags] of [
    ["\\s*[\\n\\r]+\\s*", "g"],
    ["^(#{1,6})\\s+(.*?)\\s*#*$", ""],
    ["\\/+$", ""],
    ["<[^>]*>", "g"],
    ["^(a+)+$", ""],
  ] as const)
    assert.notDeepEqual(findViolations(source, flags), [], source);
  for (const source of ["^[a-z]+$", "[\\s\\u0085]+", "<[^<>]*>"])
    assert.deepEqual(findViolations(source, "g"), []);
});

test("a pattern is allowed if the line above gives a reason, which patterns built at run time need", () => {
  const bad = "const a = text.replace(/\\s+$/, '');";
  assert.match(findProblemsIn("a.ts", bad).join(), /^a\.ts:1: .*quadratic/);
  assert.deepEqual(findProblemsIn("a.ts", `// Bounded: a title.\n${bad}`), []);
  assert.match(
    findProblemsIn("a.ts", "\nconst b = new RegExp(text);").join(),
    /^a\.ts:2: a pattern made at run/,
  );
  assert.deepEqual(findProblemsIn("a.ts", "// Linear: one character.\nconst b = new RegExp(all);"), []);
});
