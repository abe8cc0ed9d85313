import assert from "node:assert/strict";
import { test } from "node:test";
import { enforced, filesOf, findWords, findWordsIn } from "../../scripts/check-words.ts";
import { root } from "./sources.ts";

test("words: nothing that docs/writing.md refuses in docs, UI strings, errors and comments", () => {
  process.chdir(root);
  for (const path of enforced)
    assert.ok(filesOf([path]).length > 0, `${path} is gone; remove it from the list`);
  assert.deepEqual(
    findWordsIn(enforced).map(({ path, line, word, instead }) => `${path}:${line}: "${word}" → ${instead}`),
    [],
    "node_modules/node/bin/node scripts/check-words.ts prints them",
  );
});

test("words: found in comments, strings and JSX text; keys, paths and names of other things are left alone", () => {
  const found = (path: string, text: string) =>
    findWords(path, text).map(({ line, word }) => `${line} ${word}`);
  assert.deepEqual(found("a.ts", "// Written anew.\nconst anew = 1;"), ["1 anew"]);
  assert.deepEqual(found("a.ts", 'const b = "The link was taken back";\nconst c = "gather";'), [
    "1 taken back",
  ]);
  assert.deepEqual(found("a.tsx", "const d = <p>Whoever shared it</p>;"), ["1 Whoever"]);
  assert.deepEqual(found("a.ts", "const mostLinks = `the\n stream goes on`;"), ["1 mostLinks", "2 goes on"]);
  assert.deepEqual(found("a.ts", 'import { a } from "./the door.ts";'), []);
  assert.deepEqual(found("a.sql", "create table doors (); -- Made anew."), ["1 anew"]);
  assert.deepEqual(found("a.md", "The server\nanswers."), ["2 answers"]);
});
