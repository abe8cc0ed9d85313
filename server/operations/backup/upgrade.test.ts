import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pino } from "pino";
import { createTestDatabase } from "../../../test/support/database.ts";
import { until } from "../../../test/support/until.ts";
import { withBackupLock } from "./create.ts";
import { backUpBeforeUpgrade, pruneUpgradeCopies } from "./upgrade.ts";

const database = await createTestDatabase();
after(() => database.drop());
const folder = mkdtempSync(join(tmpdir(), "parley-upgrades-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const lines: string[] = [];
const log = pino({}, { write: (line) => void lines.push(line) });

function copies(): number {
  return readdirSync(join(folder, "before-upgrades", "backups")).length;
}

test("an upgrade that waits for a backup logs what it waits for", async () => {
  let upgrade = Promise.resolve();
  await withBackupLock(database.settings, async () => {
    upgrade = backUpBeforeUpgrade(database.settings, folder, log, async () => true);
    await until("it is logged", () => lines.some((line) => /upgrade waits/.test(line)) || undefined, 20_000);
  });
  assert.match(lines.join(""), /"session":{"pid":\d+/);
  await upgrade;
  assert.equal(copies(), 1);
});

test("copies from before upgrades are removed after 30 days, except the newest two", async () => {
  for (let index = copies(); index < 4; index++)
    await backUpBeforeUpgrade(database.settings, folder, log, async () => true);
  const day = 86_400_000;
  await pruneUpgradeCopies(folder, Date.now() + 29 * day);
  assert.equal(copies(), 4);
  await pruneUpgradeCopies(folder, Date.now() + 31 * day);
  assert.equal(copies(), 2);
  await pruneUpgradeCopies(join(folder, "missing"));
});
