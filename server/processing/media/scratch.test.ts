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
import { until } from "../../../test/support/until.ts";
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

test("a task has its own folder, which is removed however the task ends", async () => {
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

test("a running task keeps its folder's time current, so that no process considers it abandoned", async () => {
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

test("sweep: inactive folders are removed after five minutes, whatever their process; others after a day", async () => {
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
  // Named as by an earlier version: the process number may belong to another process by now.
  make(`host_${process.pid}_x`, 25 * 60);
  const mine = await withScratch(dataDir, async ({ folder }) => {
    await sweepScratch(dataDir);
    return existsSync(folder) && basename(folder);
  });
  assert.ok(mine !== false && mine.startsWith("work-"), "a living process's is kept");
  assert.deepEqual(readdirSync(scratch).sort(), kept.sort());
  await sweepScratch(join(dataDir, "none"));
});
