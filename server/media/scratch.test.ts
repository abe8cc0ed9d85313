import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, mock, test } from "node:test";
import { until } from "../../test/support/until.ts";
import { sweepScratch, withScratch } from "./scratch.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "parley-scratch-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function age(folder: string, minutes: number): void {
  const at = new Date(Date.now() - minutes * 60_000);
  utimesSync(folder, at, at);
}

test("work has a folder of its own, which is gone after it, however it ends", async () => {
  const folder = await withScratch(dataDir, async (scratch) => {
    writeFileSync(join(scratch.folder, "a"), "a");
    return scratch.folder;
  });
  assert.equal(existsSync(folder), false);
  await assert.rejects(
    withScratch(dataDir, () => Promise.reject(new Error("broken"))),
    { message: "broken" },
  );
  assert.deepEqual(readdirSync(join(dataDir, "scratch")), []);
});

test("work that goes on keeps its folder young, so that no process takes it for abandoned", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    await withScratch(dataDir, async ({ folder }) => {
      age(folder, 60);
      mock.timers.tick(30_000);
      await until("the folder is young again", () => Date.now() - statSync(folder).mtimeMs < 60_000);
      await sweepScratch(dataDir);
      assert.ok(existsSync(folder));
    });
  } finally {
    mock.timers.reset();
  }
});

test("sweep: silent folders go after five minutes, whoever made them; what is not work has a day", async () => {
  const scratch = join(dataDir, "scratch");
  const make = (name: string, minutes: number): string => {
    const folder = join(scratch, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "input"), "a");
    age(folder, minutes);
    return name;
  };
  const kept = [make("work-live", 4), make("parley-put-x", 60)];
  make("work-dead", 6);
  make("parley-put-y", 25 * 60);
  // As an earlier version named them: the number of its process may be another's by now.
  make(`host_${process.pid}_x`, 25 * 60);
  const mine = await withScratch(dataDir, async ({ folder }) => {
    await sweepScratch(dataDir);
    return existsSync(folder) && basename(folder);
  });
  assert.ok(mine !== false && mine.startsWith("work-"), "a living process's is kept");
  assert.deepEqual(readdirSync(scratch).sort(), kept.sort());
  await sweepScratch(join(dataDir, "none"));
});
