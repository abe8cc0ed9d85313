import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { limitVariable } from "./time-limit.ts";

const limit = fileURLToPath(new URL("./time-limit.ts", import.meta.url));

function run(code: string, minutes: number) {
  return promisify(execFile)(process.execPath, ["--import", limit, "--eval", code], {
    env: { ...process.env, [limitVariable]: String(minutes) },
  });
}

test("a process that an open server keeps running ends with an error that names what is open and what it printed last", async () => {
  await assert.rejects(
    run('console.error("the last words"); require("node:net").createServer().listen(0, "127.0.0.1")', 0.01),
    (error) => {
      const { code, stderr } = error as { code: number; stderr: string };
      assert.equal(code, 1);
      assert.match(
        stderr,
        /still runs after 0.01 minutes, kept open by: .*TCPServerWrap.*it printed last:\nthe last words/s,
      );
      return true;
    },
  );
});

test("a process that has finished does not wait for the limit", async () => {
  const { stdout } = await run('process.stdout.write("done")', 20);
  assert.equal(stdout, "done");
});
