import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { z } from "zod";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import { readSecretState, type SecretState } from "../../../platform/crypto/secret.ts";
import type { Database } from "../../../platform/db/database.ts";
import { defineJob } from "../../../platform/jobs/define.ts";
import { findProcesses, type ProcessRow } from "../processes.ts";
import { encryptedValues, findOthers, replaceValues } from "./encrypted-values.ts";

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    readonly rotate_secrets: z.infer<typeof payload>;
  }
}

/** Passes over all values after the first; each takes less than one. */
const maxPasses = 20;

const pollMs = 500;

const payload = z.object({
  /** The id of the secret that is to encrypt everything, in hexadecimal. */
  secret_id: z.string(),
});

/**
 * Encrypts all stored values with the first secret. A run that was killed leaves both readable; the next one continues with
 * what is left. The last one notes that the previous secrets are not needed any more.
 */
export const rotateSecretsKind = defineJob({
  name: "rotate_secrets",
  schema: payload,
  label: (i18n) => i18n.t("Encrypt with the new secret"),
  subject: "installation",
  owner: null,
  concurrency: 1,
  discard: "stored values would stay encrypted with the previous secret; it can only be retried",
  async handler({ db, encryptor, log, signal }, { secret_id }) {
    const state = await readSecretState(db.kysely);
    const isFirst = encryptor.keyId.toString("hex") === secret_id;
    const hasEnded = state.fingerprints.length < 2;
    // After its end, a rotation continues only for values that it left.
    if (hasEnded && (!isFirst || state.linkKeys === null)) return;
    if (!isFirst)
      throw new Error(
        `this worker encrypts with the secret ${encryptor.keyId.toString("hex")}, but the rotation is to ${secret_id}; put that one first in its PARLEY_SECRET`,
      );
    const { rewritten, unreadable } = await rewriteAll(db, encryptor, signal);
    log.info({ rewritten, unreadable }, "stored values are encrypted with the new secret");
    await rewriteRest(db, encryptor, signal);
    if (!hasEnded) await endOtherSecrets(db, state, encryptor.keyId);
  },
});

/**
 * Repeats until a pass finds nothing: until a moment ago, another process may have encrypted with the previous secret, in a
 * transaction that is still open.
 */
async function rewriteRest(db: Database, encryptor: Encryptor, signal: AbortSignal): Promise<void> {
  for (let pass = 0; pass < maxPasses; pass += 1) {
    refuseLaggards(await findProcesses(db), encryptor.keyId.toString("hex"));
    await waitForTransactions(db, signal);
    const { readable } = await rewriteAll(db, encryptor, signal);
    if (readable === 0) return;
  }
  throw new Error("values are still being encrypted with a previous secret; it stays in use");
}

/** Waits until all transactions that write now have ended: those with an id below that of a new one. */
async function waitForTransactions(db: Pick<Database, "pool">, signal: AbortSignal): Promise<void> {
  const { rows } = await db.pool.query("select pg_current_xact_id()::text as own");
  for (;;) {
    const { rows: ended } = await db.pool.query(
      "select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as are_ended",
      [rows[0]?.own],
    );
    if (ended[0]?.are_ended) return;
    await sleep(pollMs, undefined, { signal });
  }
}

/** What encrypting all values again came to. */
interface Rewritten {
  readonly rewritten: number;
  /** Values that were to be rewritten; some may have changed meanwhile. */
  readonly readable: number;
  /** Values that no given secret can decrypt; they stay as they are. */
  readonly unreadable: number;
}

/** Encrypts all values with the first secret that are not yet. */
export async function rewriteAll(
  db: Pick<Database, "kysely">,
  encryptor: Encryptor,
  signal: Pick<AbortSignal, "throwIfAborted">,
): Promise<Rewritten> {
  let [rewritten, readable, unreadable] = [0, 0, 0];
  for (const place of encryptedValues) {
    signal.throwIfAborted();
    for await (const found of findOthers(db.kysely, place, encryptor.keyId)) {
      signal.throwIfAborted();
      const replaced = found.flatMap(({ row, value }) => {
        const text = decryptOrNull(encryptor, value);
        return text === null ? [] : [{ row, value, next: encryptor.encrypt(text) }];
      });
      readable += replaced.length;
      unreadable += found.length - replaced.length;
      rewritten += await replaceValues(db.kysely, place, replaced);
    }
  }
  return { rewritten, readable, unreadable };
}

/** @returns null for a value that was encrypted with a secret which is lost. */
export function decryptOrNull(encryptor: Encryptor, value: Buffer): string | null {
  try {
    return encryptor.decrypt(value);
  } catch {
    return null;
  }
}

/** Running processes that don't encrypt with the secret yet. */
export function findLaggards(processes: readonly ProcessRow[], secretId: string): ProcessRow[] {
  return processes.filter(({ is_responding, secret_ids }) => is_responding && secret_ids?.[0] !== secretId);
}

export function describeProcesses(processes: readonly ProcessRow[]): string {
  return processes.map(({ role, host, pid }) => `${role} ${pid} on ${host}`).join(", ");
}

function refuseLaggards(processes: readonly ProcessRow[], secretId: string): void {
  const laggards = findLaggards(processes, secretId);
  if (laggards.length > 0)
    throw new Error(
      `these processes don't encrypt with the new secret yet: ${describeProcesses(laggards)}; put it first in their PARLEY_SECRET and restart them`,
    );
}

/** Notes that only one secret is needed, unless another one was begun meanwhile. */
async function endOtherSecrets(
  db: Pick<Database, "kysely">,
  state: SecretState,
  keyId: Buffer,
): Promise<void> {
  const kept = state.fingerprints.find((one) => one.subarray(0, keyId.length).equals(keyId));
  await db.kysely.transaction().execute(async (tx) => {
    await sql`select 1 from installation for update`.execute(tx);
    const now = await readSecretState(tx);
    if (JSON.stringify(now.fingerprints) !== JSON.stringify(state.fingerprints))
      throw new Error("another secret was put first meanwhile; run `parley secrets rotate` again");
    await sql`update installation set secret_fingerprint = ${kept}, newer_secret_fingerprints = '{}'`.execute(
      tx,
    );
  });
}
