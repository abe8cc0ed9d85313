import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import type { Config } from "../../../platform/config/config.ts";
import { createEncryptor } from "../../../platform/crypto/encryptor.ts";
import { secretOf } from "../../../platform/crypto/keyring.ts";
import {
  beginSecret,
  createSecret,
  type OpenSecrets,
  openSecrets,
  readSecretState,
  storeSecrets,
} from "../../../platform/crypto/secret.ts";
import type { Database } from "../../../platform/db/database.ts";
import { followChannel, releaseMoverLock, takeMoverLock } from "../../../platform/db/presence.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { findProcesses, type ProcessRow } from "../processes.ts";
import { describeProcesses, findLaggards } from "./rotate.ts";
import { readSecretStatus } from "./status.ts";

/** A rotation can't begin or continue; the message is one line with the remedy. */
export class RotationError extends Error {}

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "secret">;
  readonly jobs: JobQueue;
}

/** How long running processes may take to follow a change of the generated secret: they check every few seconds. */
const followMs = 60_000;

const pollMs = 200;

/**
 * Begins to encrypt with a new secret, or continues a rotation that was interrupted, and queues the job that encrypts stored
 * values with it. A generated secret is replaced while processes run; one that is set has to be first in PARLEY_SECRET of
 * all processes already.
 * @returns the id of the secret.
 * @throws RotationError when there is none to rotate to, a process doesn't use it, or another command changes secrets.
 */
export function rotateSecret(deps: Dependencies): Promise<string> {
  return withSecretsLock(deps.db, () => rotate(deps));
}

async function rotate(deps: Dependencies): Promise<string> {
  const { db, store, config, jobs } = deps;
  const secrets =
    config.secret === null ? await replaceGenerated(deps) : await openSecrets(config.secret, store, db);
  const secretId = secrets.secrets[0].id.toString("hex");
  const { fingerprints } = await readSecretState(db.kysely);
  const isNeeded =
    fingerprints.length > 1 ||
    (await readSecretStatus(db, secrets, createEncryptor(secrets))).state === "incomplete";
  if (!isNeeded)
    throw new RotationError(
      `the first secret of PARLEY_SECRET (${secretId}) is in use already, and nothing needs another one. To rotate it, put a new one before it, separated by a comma, for all processes: PARLEY_SECRET=NEW,PRESENT. \`openssl rand -base64 32\` creates one`,
    );
  const laggards = findLaggards(await findProcesses(db), secretId);
  if (laggards.length > 0)
    throw new RotationError(
      `these processes don't encrypt with the new secret (${secretId}) yet: ${describeProcesses(laggards)}. Put it first in their PARLEY_SECRET, restart them, and run this again`,
    );
  await db.kysely.transaction().execute(async (tx) => {
    const { id } = await tx.selectFrom("installation").select("id").executeTakeFirstOrThrow();
    await jobs.enqueue(tx, "rotate_secrets", { secret_id: secretId }, id);
  });
  return secretId;
}

/** Replaces the generated secret: processes get to know the new one first, and then encrypt with it. */
async function replaceGenerated({ db, store }: Dependencies): Promise<OpenSecrets> {
  const present = await openSecrets(null, store, db);
  const state = await readSecretState(db.kysely);
  const [first, ...rest] = present.secrets;
  const newest = state.fingerprints.at(-1);
  const begun =
    state.fingerprints.length < 2
      ? undefined
      : present.secrets.find(({ fingerprint }) => newest?.equals(fingerprint));
  const next = begun ?? secretOf(createSecret());
  if (begun === undefined) {
    // Stored before the database names it, so that a process that starts meanwhile has it.
    await storeSecrets(
      store,
      [first, next, ...rest].map(({ text }) => text),
    );
    await beginSecret(db, [first, next, ...rest], next);
    await announce(db);
  }
  const id = next.id.toString("hex");
  await waitFor(db, ({ secret_ids }) => secret_ids?.includes(id) ?? false);
  const others = present.secrets.filter(({ text }) => text !== next.text);
  await storeSecrets(
    store,
    [next, ...others].map(({ text }) => text),
  );
  await announce(db);
  await waitFor(db, ({ secret_ids }) => secret_ids?.[0] === id);
  return openSecrets(null, store, db);
}

/**
 * Runs work that changes the secrets while no other command changes them, or moves the files or the database.
 * @throws RotationError when another command does.
 */
export async function withSecretsLock<T>(db: Pick<Database, "session">, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client(db.session);
  // The running statement is rejected when the connection breaks; without a listener the event would end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    if (!(await takeMoverLock(client, "storage")))
      throw new RotationError(
        "another command is changing the secrets, or moving files or the database; wait until it has finished",
      );
    const result = await work();
    await releaseMoverLock(client, "storage");
    return result;
  } finally {
    await client.end();
  }
}

/** Removes those of the generated secrets that no stored value needs. @returns how many. */
export function dropSecrets(deps: Omit<Dependencies, "jobs">): Promise<number> {
  return withSecretsLock(deps.db, () => drop(deps));
}

async function drop({ db, store, config }: Omit<Dependencies, "jobs">): Promise<number> {
  if (config.secret !== null)
    throw new RotationError("the secret is set: remove the previous one from PARLEY_SECRET of all processes");
  const open = await openSecrets(null, store, db);
  const { secrets } = open;
  const { state } = await readSecretStatus(db, open, createEncryptor(open));
  if (state === "rotating" || state === "incomplete")
    throw new RotationError(
      "stored values are still encrypted with a previous secret; `parley secrets status` shows how many",
    );
  const { fingerprints } = await readSecretState(db.kysely);
  const kept = secrets.filter(({ fingerprint }) => fingerprints.some((one) => one.equals(fingerprint)));
  if (kept.length === secrets.length) return 0;
  await storeSecrets(
    store,
    kept.map(({ text }) => text),
  );
  await announce(db);
  return secrets.length - kept.length;
}

/** Has all processes read the generated secret again. */
async function announce(db: Pick<Database, "kysely">): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    await sql`update installation set secret_version = secret_version + 1`.execute(tx);
    await sql`select pg_notify(${followChannel}, '')`.execute(tx);
  });
}

/** Waits until all processes that respond follow. */
async function waitFor(db: Database, follows: (process: ProcessRow) => boolean): Promise<void> {
  const end = Date.now() + followMs;
  for (;;) {
    const laggards = (await findProcesses(db)).filter((one) => one.is_responding && !follows(one));
    if (laggards.length === 0) return;
    if (Date.now() > end)
      throw new RotationError(
        `these processes have not followed the change: ${describeProcesses(laggards)}. Both secrets are kept. Restart or upgrade them, and run this again`,
      );
    await sleep(pollMs);
  }
}
