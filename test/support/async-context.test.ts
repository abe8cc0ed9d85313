import assert from "node:assert/strict";
import { executionAsyncId } from "node:async_hooks";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const preload = fileURLToPath(new URL("./async-context.ts", import.meta.url));

test("promises get no number in a test, which would cost a third of a request's processor time", async () => {
  await null;
  const id = executionAsyncId();
  await null;
  assert.equal(executionAsyncId(), id);
});

test("an error outside of a test's promise fails the test that caused it, also in an imported file", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-context-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const inner = `
    import { after, test } from "node:test";
    await new Promise((resolve) => setTimeout(resolve, 1));
    after(() => process.stdout.write("# after the imported file\\n"));
    test("a timer throws", async () => {
      setTimeout(() => { throw new Error("from the timer"); }, 1);
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    test("nobody awaits a promise", async () => {
      (async () => { await null; throw new Error("from the promise"); })();
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    test("nothing happens", () => {});`;
  const outer = `
    import { test } from "node:test";
    test("group", async () => { await import("./inner.mjs"); });
    test("other", async () => { await new Promise((resolve) => setTimeout(resolve, 1)); });`;
  writeFileSync(join(folder, "inner.mjs"), inner);
  writeFileSync(join(folder, "outer.mjs"), outer);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ["--import", preload, "--test-reporter=tap", join(folder, "outer.mjs")];
  const printed = await promisify(execFile)(process.execPath, args, { env }).then(
    () => assert.fail("the failed tests fail the process"),
    (error: { stdout: string }) => error.stdout,
  );
  const results = printed
    .match(/^ *(not ok|ok|error:|# after).*/gm)
    ?.map((line) => line.replace(/^ {4}/, ""));
  assert.deepEqual(results, [
    "not ok 1 - a timer throws",
    "  error: 'from the timer'",
    "# after the imported file",
    "not ok 2 - nobody awaits a promise",
    "  error: 'from the promise'",
    "ok 3 - nothing happens",
    "not ok 1 - group",
    "  error: '2 subtests failed'",
    "ok 2 - other",
  ]);
});
