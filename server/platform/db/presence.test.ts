import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { createTestDatabase } from "../../../test/support/database.ts";
import { until } from "../../../test/support/until.ts";
import { announceMove, findLaggards, findServing, type MoveHandlers, startPresence } from "./presence.ts";

/** A process that follows stores, seen from a command. */
async function startProcess(followStores: MoveHandlers["followStores"]) {
  const database = await createTestDatabase();
  const command = new pg.Client(database.settings);
  await command.connect();
  const { rowCount } = await command.query("select 1 from installation");
  if (rowCount === 0) await command.query("insert into installation default values");
  const presence = await startPresence(
    { settings: database.settings, log: pino({ level: "silent" }) },
    { pause: async () => {}, resume: async () => {}, followStores, followSettings: async () => {} },
  );
  return {
    command,
    async moveTo(step: number) {
      await command.query("update installation set store_step = $1", [step]);
      await announceMove(command);
    },
    /** Ends the session of the process. @returns when it has another one. */
    async cut() {
      const before = await findServing(command);
      await command.query("select pg_terminate_backend($1)", [before[0]?.pid]);
      await until("the process has a new session", async () => {
        const now = await findServing(command);
        return now.length === 1 && now[0]?.pid !== before[0]?.pid;
      });
    },
    async stop() {
      await presence.stop();
      await command.end();
      await database.drop();
    },
  };
}

test("a process that can't reach the new store counts as using the former one", async () => {
  let attempts = 0;
  const following = await startProcess(async () => {
    attempts += 1;
    if (attempts > 1) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    return 0;
  });
  await following.moveTo(1);
  await until("the process tries to follow", () => attempts > 1);
  const [before] = await findServing(following.command);
  for (let attempt = 3; attempt < 6; attempt++) {
    await announceMove(following.command);
    await until("it tries again", () => attempts >= attempt);
    assert.equal((await findLaggards(following.command, 1)).length, 1);
  }
  assert.deepEqual(await findServing(following.command), [before]);
  await following.stop();
});

test("a process whose session breaks while it waits for writes still counts as using the former store", async () => {
  let step = 0;
  let attempts = 0;
  const writing = Promise.withResolvers<void>();
  const following = await startProcess(async () => {
    attempts += 1;
    if (step > 0) await writing.promise;
    return step;
  });
  step = 1;
  await following.moveTo(1);
  await until("the process waits for its writes", () => attempts === 2);
  await following.cut();
  assert.equal((await findLaggards(following.command, 1)).length, 1);
  writing.resolve();
  await until(
    "the process has followed",
    async () => (await findLaggards(following.command, 1)).length === 0,
  );
  await following.stop();
});
