import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { prepareServer } from "../test/support/server-process.ts";

// Never started: the command line works without a running server.
const server = await prepareServer();
after(() => server.dispose());
const main = fileURLToPath(new URL("./main.ts", import.meta.url));
const objects = join(server.env.PARLEY_DATA_DIR ?? "", "objects");

/** Runs `parley files adopt` and gives what it wrote, and whether it did it. */
async function adopt(...options: string[]): Promise<{ stderr: string; isDone: boolean }> {
  const env = { ...process.env, ...server.env };
  try {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [main, "files", "adopt", ...options],
      {
        env,
      },
    );
    assert.equal(stdout, "");
    return { stderr: stderr.trim(), isDone: true };
  } catch (error) {
    return { stderr: (error as { stderr: string }).stderr.trim(), isDone: false };
  }
}

const readMark = () => JSON.parse(readFileSync(join(objects, "parley", "database"), "utf8"));

test("adopt: marks a store of which all is known, and asks before what it does not know is lost", async () => {
  const first = await adopt();
  assert.deepEqual(first, { isDone: true, stderr: "the files belong to this database now" });
  assert.match(readMark().installation, /^[0-9a-f-]{36}$/);

  // Another installation's.
  writeFileSync(join(objects, "parley", "database"), JSON.stringify({ installation: "another", high: 5 }));
  const recording = join(objects, "recordings", "0190c8f0-0000-7000-8000-000000000001");
  mkdirSync(recording, { recursive: true });
  for (const name of ["media.mp4", "thumbnail.jpg"]) writeFileSync(join(recording, name), "a file");
  const refused = await adopt();
  assert.equal(refused.isDone, false);
  assert.match(refused.stderr, /there are 2 objects .* does not know.*next sweep removes.*--yes$/);
  assert.equal(refused.stderr.split("\n").length, 1, refused.stderr);
  assert.equal(readMark().installation, "another");

  const agreed = await adopt("--yes");
  assert.equal(agreed.isDone, true);
  assert.match(agreed.stderr, /this database now; the next sweep removes 2 objects/);
  assert.notEqual(readMark().installation, "another");
});
