import assert from "node:assert/strict";
import { test } from "node:test";
import { readSources } from "../../../test/shape/sources.ts";

const pages = ["docs/decisions/0013-oauth.md", "docs/decisions/0043-assistants-that-register-themselves.md"];

test("every attack in the tables of decisions 13 and 43 names an existing test", () => {
  const found = readSources([".md"]).filter(({ path }) => pages.includes(path));
  assert.equal(found.length, pages.length);
  const tests = readSources([".test.ts"]).filter(({ path }) => path.startsWith("server/people/oauth/"));
  const rows = found.flatMap(({ text }) => text.split("\n")).filter((line) => /^\| (4\.\d|[A-Z])/.test(line));
  const named = rows
    .filter((line) => !line.startsWith("| Attack"))
    .map((line) =>
      [...(line.split(" | ").at(-1) ?? "").matchAll(/`([^`]+)`/g)].map(([, title]) => title ?? ""),
    );
  assert.ok(named.length >= 25, `${named.length} rows`);
  for (const titles of named) {
    assert.ok(titles.length > 0, "a row names no test");
    for (const title of titles)
      assert.ok(
        tests.some(({ text }) => text.includes(`test("${title}"`)),
        `there is no test named: ${title}`,
      );
  }
});
