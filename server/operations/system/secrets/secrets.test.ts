import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { sql } from "kysely";
import { startTestApp } from "../../../../test/support/app.ts";
import { runJob } from "../../../../test/support/run-job.ts";
import { until } from "../../../../test/support/until.ts";
import { createEncryptor } from "../../../platform/crypto/encryptor.ts";
import { createSigner } from "../../../platform/crypto/link-signer.ts";
import {
  acceptSecret,
  openSecrets,
  parseSecrets,
  readSecretState,
  storeSecrets,
  WrongSecretError,
} from "../../../platform/crypto/secret.ts";
import { readToken, tokenOf } from "../../../recordings/public-link-records/token.ts";
import { dropSecrets, RotationError, rotateSecret, withSecretsLock } from "./begin.ts";
import { countValues, encryptedValues } from "./encrypted-values.ts";
import { rewriteAll, rotateSecretsKind } from "./rotate.ts";
import { readRotationProgress, readSecretStatus } from "./status.ts";

const [a, b] = ["first secret of the installation".padEnd(32, "1"), "second secret of the installation"];
const app = await startTestApp({ worker: false, env: { PARLEY_SECRET: a } });
const { db, store } = app;

/** Columns of bytes that are not encrypted with the secret, and why. */
const otherColumns: Readonly<Record<string, RegExp>> = {
  "hashes, and keys that are hashes": /hash$|sha256$|fingerprints?$|_key$|\.key$/,
  "salts of the audit log": /^audit_log\.\w+_salt$/,
  "passkeys: public": /^passkeys\.(credential_id|public_key)$/,
  "pictures: anyone who has the link sees them": /^story_banners\.bytes$/,
  "times and sizes of files": /^watched_files\.mark$/,
};

test("every column of bytes is encrypted again by a rotation, or not encrypted", async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and (data_type = 'bytea' or udt_name = '_bytea')`.execute(db.kysely);
  const listed = new Set(encryptedValues.map(({ name }) => name));
  const unknown = rows
    .map(({ name }) => name)
    .filter((name) => !listed.has(name) && !Object.values(otherColumns).some((one) => one.test(name)));
  assert.deepEqual(unknown, [], "list them in encrypted-values.ts, or here with the reason");
});

/** Adds a row with an encrypted value to each table, whatever else the table asks for. */
async function addValues(encrypt: (text: string) => Buffer): Promise<void> {
  await db.kysely.connection().execute(async (connection) => {
    // Only what is encrypted matters here.
    await sql`set session_replication_role = replica`.execute(connection);
    for (const { table, name } of encryptedValues) {
      const column = name.split(".")[1] ?? "";
      if (table === "installation") {
        if (column !== "link_keys")
          await sql`update installation set ${sql.ref(column)} = ${encrypt(name)}`.execute(connection);
        continue;
      }
      const { rows } = await sql<{ column_name: string; udt_name: string }>`
        select column_name, udt_name from information_schema.columns
        where table_name = ${table} and is_nullable = 'NO' and column_default is null`.execute(connection);
      const { rows: checks } = await sql<{ conname: string }>`
        select conname from pg_constraint where conrelid = ${table}::regclass and contype = 'c'`.execute(
        connection,
      );
      for (const { conname } of checks)
        await sql`alter table ${sql.table(table)} drop constraint ${sql.ref(conname)}`.execute(connection);
      const fillers: Readonly<Record<string, string | number | boolean | Date | Buffer>> = {
        uuid: randomUUID(),
        timestamptz: new Date(),
        bytea: encrypt("another"),
        int4: 1,
        int8: 1,
        bool: false,
        jsonb: "{}",
        _text: "{}",
      };
      const row: Record<string, unknown> = Object.fromEntries(
        rows.map((one) => [one.column_name, fillers[one.udt_name] ?? randomUUID()]),
      );
      if (table === "jobs")
        Object.assign(row, { name: "send_mail", data: { encrypted: encrypt(name).toString("base64") } });
      else row[column] = encrypt(name);
      const columns = Object.keys(row).map((one) => sql.ref(one));
      await sql`insert into ${sql.table(table)} (${sql.join(columns)}) values (${sql.join(Object.values(row))})`.execute(
        connection,
      );
    }
    await sql`set session_replication_role = origin`.execute(connection);
  });
}

test("a rotation encrypts all values again in any number of runs, both secrets work meanwhile, and links outlive it", async () => {
  const [token, thumbnail] = [tokenOf(app.signer, randomUUID()), app.signer.pads("thumbnail")];
  for (let round = 0; round < 3; round += 1) await addValues(app.encryptor.encrypt);
  const lost = createEncryptor("a secret that is lost since").encrypt("lost");
  await db.pool.query("update import_runs set token = $1 where ctid = (select min(ctid) from import_runs)", [
    lost,
  ]);
  const cursor = app.signer.tag("cursor", "position");
  const config = { secret: a };
  await assert.rejects(rotateSecret({ ...app, config }), RotationError);
  const oldFirst = await openSecrets(`${a},${b}`, store, db);
  assert.equal((await readSecretState(db.kysely)).fingerprints.length, 1, "the first one encrypts");

  const both = await openSecrets(`${b},${a}`, store, db);
  const [encryptor, signer] = [createEncryptor(both), createSigner(both)];
  const fresh = encryptor.encrypt("fresh");
  await oldFirst.follow();
  assert.equal(createEncryptor(oldFirst).decrypt(fresh), "fresh");
  assert.throws(() => app.encryptor.decrypt(fresh), /can't be decrypted/);
  assert.deepEqual(
    await openSecrets(a, store, db).catch(
      (error: Error) => error instanceof WrongSecretError && error.message,
    ),
    "PARLEY_SECRET lacks a secret that stored values are still encrypted with: a rotation has not finished. Add it after the others, separated by a comma; `parley secrets status` shows the progress. If it is lost for good, run `parley secrets accept`, which says what becomes unreadable",
  );
  await assert.rejects(openSecrets(b, store, db), WrongSecretError);
  assert.ok(readToken(signer, token), "a public link");
  assert.deepEqual(signer.pads("thumbnail"), thumbnail);
  assert.ok(signer.isTag("cursor", "position", cursor));
  assert.ok(!signer.isTag("cursor", "position", cursor.subarray(0, 7)), "too short to compare");

  // Interrupted in the middle.
  let checks = 0;
  const stopping = {
    throwIfAborted: () => {
      checks += 1;
      assert.ok(checks < 12, "stopped");
    },
  };
  await assert.rejects(rewriteAll(db, encryptor, stopping), /stopped/);
  const midway = await readRotationProgress(db.kysely);
  assert.ok(midway !== null && midway.done > 0 && midway.done < midway.total, JSON.stringify(midway));

  const secretId = await rotateSecret({ ...app, config: { secret: `${b},${a}` } });
  const job = { secret_id: secretId };
  await assert.rejects(runJob(app, rotateSecretsKind, job), /put that one first in its PARLEY_SECRET/);
  await db.pool.query(
    "insert into processes (id, role, host, pid, version, started_at, heartbeat_at) values ($1, 'api', 'h', 7, '1.0.0', now(), now())",
    [randomUUID()],
  );
  await assert.rejects(runJob({ ...app, encryptor }, rotateSecretsKind, job), /api 7 on h/);
  assert.equal((await readSecretState(db.kysely)).fingerprints.length, 2);
  await db.pool.query("delete from processes");

  // A process encrypted with the previous secret, in a transaction that is still open.
  await rewriteAll(db, encryptor, new AbortController().signal);
  const setUrl = "update destinations set url = $1 where ctid = (select min(ctid) from destinations)";
  const late = createEncryptor(oldFirst).encrypt("destinations.url");
  const open = await db.pool.connect();
  await open.query("begin");
  await open.query("select pg_current_xact_id()");
  const running = runJob({ ...app, encryptor }, rotateSecretsKind, job);
  await until("the job waits for the transaction", async () => {
    const { rows: waiting } = await db.pool.query(
      "select from pg_stat_activity where datname = current_database() and query like '%pg_snapshot_xmin%' and pid <> pg_backend_pid()",
    );
    return waiting.length > 0;
  });
  await open.query(setUrl, [late]);
  await open.query("commit");
  open.release();
  await running;

  // A value that a rotation has left behind.
  await db.pool.query(setUrl, [late]);
  const left = await readSecretStatus(db, both, encryptor);
  assert.deepEqual([left.state, left.remaining], ["incomplete", 1]);
  await storeSecrets(store, [b, a]);
  const generated = { ...app, config: { secret: null } };
  await assert.rejects(dropSecrets(generated), /still encrypted with a previous secret/);
  await withSecretsLock(db, async () => {
    for (const change of [dropSecrets, rotateSecret])
      await assert.rejects(change(generated), /another command is changing the secrets/);
  });
  assert.equal(await rotateSecret({ ...app, config: { secret: `${b},${a}` } }), secretId);
  await runJob({ ...app, encryptor }, rotateSecretsKind, job);
  assert.equal(await dropSecrets(generated), 1);

  assert.equal(await readRotationProgress(db.kysely), null);
  const status = await readSecretStatus(db, both, encryptor);
  assert.deepEqual(
    [status.state, status.remaining, status.unreadable],
    ["removable", 0, { "import_runs.token": 1 }],
  );
  const alone = await openSecrets(b, store, db);
  for (const place of encryptedValues) {
    const { total, others } = await countValues(db.kysely, place, encryptor.keyId);
    assert.ok(total > 0, place.name);
    assert.equal(others, place.name === "import_runs.token" ? 1 : 0, place.name);
  }
  const { rows } = await db.pool.query("select url from destinations");
  assert.deepEqual(
    rows.map(({ url }) => createEncryptor(alone).decrypt(url)),
    Array(3).fill("destinations.url"),
  );
  const { rows: mails } = await db.pool.query(
    "select data ->> 'encrypted' as text from jobs where name = 'send_mail'",
  );
  for (const { text } of mails)
    assert.equal(createEncryptor(alone).decrypt(Buffer.from(text, "base64")), "jobs.data");
  assert.ok(readToken(createSigner(alone), token));
  await assert.rejects(openSecrets(a, store, db), WrongSecretError);

  // A process that still has the previous one first begins to use it again, and says so.
  await oldFirst.follow();
  assert.equal((await readSecretState(db.kysely)).fingerprints.length, 2);
  await assert.rejects(openSecrets(b, store, db), WrongSecretError);
  await acceptSecret(b, store, db);
  assert.ok(readToken(createSigner(await openSecrets(b, store, db)), token));
});

test("PARLEY_SECRET is one secret unless every part of it is long enough", () => {
  assert.deepEqual(parseSecrets(`${a} , ${a}`), [a]);
  assert.deepEqual(parseSecrets(`${"x".repeat(32)},${"y".repeat(32)}`), ["x".repeat(32), "y".repeat(32)]);
  assert.deepEqual(parseSecrets(`${"x".repeat(32)},short`), [`${"x".repeat(32)},short`]);
});
