import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { parley, prepareServer, runParley, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const [a, b] = ["a".repeat(40), "b".repeat(40)];
const set = (secret: string): Record<string, string> => ({ PARLEY_SECRET: secret });
const api = await prepareServer({ env: { ...set(a), PARLEY_ROLE: "api" } });
const others: ServerProcess[] = [];
const prepare = async (secret: string, role: string) => {
  const server = await prepareServer({ env: { ...set(secret), PARLEY_ROLE: role }, shared: api });
  others.push(server);
  return server;
};
const generated = await prepareServer();
const database = new pg.Client(api.env.PARLEY_DATABASE_URL);
after(async () => {
  await database.end();
  for (const server of [...others, api, generated]) await server.dispose();
});

const env = (secret: string) => ({ env: { ...api.env, ...set(secret) } });
const read = async (secret: string) => JSON.parse(await parley(env(secret), "secrets", "status", "--json"));

/** The stored API key of the language model, as a command with this secret reads it. */
const readKey = async (secret: string) =>
  JSON.parse((await runParley(env(secret), "settings", "export", "--secrets")).stdout).PARLEY_LLM_API_KEY;

test("the secret is rotated under two processes, through wrong orders and kill -9, and nothing is lost", async () => {
  await database.connect();
  await api.start();
  const file = join(api.env.PARLEY_DATA_DIR ?? "", "settings.json");
  writeFileSync(file, JSON.stringify({ PARLEY_LLM_API_KEY: "sk-first" }));
  await parley(api, "settings", "import", file);
  assert.equal(await readKey(a), "sk-first");
  await api.stop();
  const backups = join(api.env.PARLEY_DATA_DIR ?? "", "backups");
  await parley(api, "backup", backups);
  // More than one run can encrypt again before it is killed.
  await database.query(
    `insert into setting_changes (id, names, previous)
     select gen_random_uuid(), names, previous from setting_changes, generate_series(1, 30000) limit 30000`,
  );

  const [oldFirst, worker] = [await prepare(`${a},${b}`, "api"), await prepare(`${b},${a}`, "worker")];
  await oldFirst.start();
  await worker.start();
  const early = await runParley(env(`${b},${a}`), "secrets", "rotate");
  assert.match(
    early.stderr,
    /these processes don't encrypt with the new secret \([0-9a-f]{16}\) yet: api \d+ on/,
  );
  await oldFirst.stop();
  const newFirst = await prepare(`${b},${a}`, "api");
  await newFirst.start();
  const secretId = await parley(env(`${b},${a}`), "secrets", "rotate");
  const midway = await until("some are encrypted again", async () => {
    const { remaining, values } = await read(`${b},${a}`);
    return remaining < values && { remaining, values };
  });
  await worker.kill();
  assert.ok(midway.remaining > 0, "killed in the middle");
  const alone = await prepare(b, "api");
  await assert.rejects(alone.start(), /a rotation has not finished/);
  await database.query(
    "update jobs set heartbeat_at = now() - interval '1 hour' where name = 'rotate_secrets'",
  );
  await worker.start();
  await until(
    "the rotation ends",
    async () => {
      if ((await read(`${b},${a}`)).state === "removable") return true;
      // Each look at the status reads all values.
      await delay(1000);
      return undefined;
    },
    120_000,
  );
  const status = await read(`${b},${a}`);
  assert.deepEqual([status.secret_ids[0], status.remaining, status.unreadable], [secretId, 0, {}]);
  for (const server of [newFirst, worker]) await server.stop();

  await alone.start();
  assert.equal(await readKey(b), "sk-first");
  const former = await prepare(a, "api");
  await assert.rejects(former.start(), /PARLEY_SECRET is not the one this database was used with/);

  // The backup from before the rotation.
  const restored = await prepareServer({ env: set(b), isEmpty: true });
  others.push(restored);
  const refused = await runParley(restored, "restore", backups);
  assert.match(refused.stderr, /PARLEY_SECRET lacks a secret of this backup/);
  const target = { env: { ...restored.env, ...set(`${b},${a}`) } };
  await parley(target, "restore", backups);
  assert.equal(
    JSON.parse((await runParley(target, "settings", "export", "--secrets")).stdout).PARLEY_LLM_API_KEY,
    "sk-first",
  );
});

test("a generated secret is replaced while the server runs, and the previous one removed", async () => {
  await generated.start();
  const file = join(generated.env.PARLEY_DATA_DIR ?? "", "objects", "parley", "secret");
  const first = readFileSync(file, "utf8");
  const secretId = await parley(generated, "secrets", "rotate");
  const [second, ...rest] = readFileSync(file, "utf8").split(",");
  assert.notEqual(second, first);
  assert.deepEqual(rest, [first]);
  const status = async () => JSON.parse(await parley(generated, "secrets", "status", "--json"));
  await until("the rotation ends", async () => (await status()).state === "removable", 60_000);
  assert.deepEqual([(await status()).secret_ids[0], (await status()).processes], [secretId, []]);
  await parley(generated, "secrets", "drop");
  assert.equal(readFileSync(file, "utf8"), second);
  await until("the server follows", async () => (await status()).processes.length === 0);
  await generated.stop();
  await generated.start();
  assert.equal((await status()).state, "single");
});
