import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import type { Database, Executor } from "../db/database.ts";
import { prepared } from "../db/prepared.ts";
import { ObjectExistsError, type ObjectStore } from "../storage/store.ts";
import { createEncryptor } from "./encryptor.ts";
import {
  deriveLinkKeys,
  type Keyring,
  type LinkKeys,
  linkKeysOf,
  linkKeysToText,
  type Secret,
  secretOf,
} from "./keyring.ts";

/** Where a secret that is not set is kept: with the files, which every process of an installation shares. */
const key = "parley/secret";

/** The secret is not the one that this database's data was encrypted with; the message is one line with the remedy. */
export class WrongSecretError extends Error {}

const remedy =
  "Use the PARLEY_SECRET that was set before, or restore the object `parley/secret` of the file store. If it is lost for good, run `parley secrets accept`, which says what becomes unreadable";

/** A list of secrets has only entries of this length; any other text is one secret, whatever it contains. */
const minSecretLength = 32;

/** The secrets in PARLEY_SECRET or the generated one's object: one, or several separated by commas, the first to encrypt. */
export function parseSecrets(given: string): [string, ...string[]] {
  const entries = [...new Set(given.split(",").map((entry) => entry.trim()))];
  const [first, ...rest] = entries;
  if (first === undefined || entries.some((entry) => entry.length < minSecretLength)) return [given];
  return [first, ...rest];
}

/** The secrets of an installation, followed while a process runs. */
export interface OpenSecrets extends Keyring {
  /**
   * Reads database and file store again. @returns whether the secrets have changed.
   * @throws WrongSecretError when one is missing meanwhile; those known stay in use.
   */
  follow(): Promise<boolean>;
}

/** What the database says about its secrets. */
export interface SecretState {
  /** Of each secret that stored values may be encrypted with, oldest first; the last encrypts. */
  readonly fingerprints: readonly Buffer[];
  /** Counts changes of the generated secret. */
  readonly version: number;
  readonly linkKeys: Buffer | null;
}

/**
 * The keys for signed links and encrypted columns: those that are set, or one created at the first start. Of several
 * processes that start at once, one creates it and all use it.
 * @param options.isReader does not begin to use the first secret, if it is new.
 * @throws WrongSecretError when values may be encrypted with a secret that is not given.
 */
export async function openSecrets(
  set: string | null,
  store: ObjectStore,
  db: Pick<Database, "kysely">,
  { isReader = false }: { readonly isReader?: boolean } = {},
): Promise<OpenSecrets> {
  const read = async (state: SecretState): Promise<readonly [Secret, ...Secret[]]> => {
    const given = set ?? (await readOrCreate(store, state.fingerprints.length > 0));
    // A secret of an earlier version may contain commas.
    const whole = secretOf(given);
    if (isKnown(state, whole)) return [whole];
    const [first, ...rest] = parseSecrets(given);
    return [secretOf(first), ...rest.map(secretOf)];
  };
  /** The state once the first secret is in use. */
  const join = async (state: SecretState, secrets: readonly [Secret, ...Secret[]]): Promise<SecretState> => {
    refuseMissing(state, secrets, set);
    if (isKnown(state, secrets[0]) || isReader) return state;
    return beginSecret(db, secrets, secrets[0]);
  };

  let state = await readSecretState(db.kysely);
  let secrets = await read(state);
  state = await join(state, secrets);
  // Another process may have stored its own in the meantime.
  refuseMissing(state, secrets, set);
  let linkKeys = readLinkKeys(secrets, state);
  return {
    get secrets() {
      return secrets;
    },
    get linkKeys() {
      return linkKeys;
    },
    async follow() {
      const before = secrets.map(({ text: one }) => one).join();
      let now = await readSecretState(db.kysely);
      const isSame = JSON.stringify(now) === JSON.stringify(state);
      if (isSame) return false;
      const next = set === null ? await read(now) : secrets;
      now = await join(now, next);
      refuseMissing(now, next, set);
      linkKeys = readLinkKeys(next, now);
      secrets = next;
      state = now;
      return secrets.map(({ text: one }) => one).join() !== before;
    },
  };
}

function isKnown({ fingerprints }: SecretState, { fingerprint }: Secret): boolean {
  return fingerprints.some((one) => one.equals(fingerprint));
}

function refuseMissing({ fingerprints }: SecretState, secrets: readonly Secret[], set: string | null): void {
  const missing = fingerprints.filter((one) => !secrets.some(({ fingerprint }) => fingerprint.equals(one)));
  if (missing.length === 0) return;
  const given = set === null ? "the secret in the file store" : "PARLEY_SECRET";
  if (missing.length < fingerprints.length)
    throw new WrongSecretError(
      `${given} lacks a secret that stored values are still encrypted with: a rotation has not finished. Add it after the others, separated by a comma; \`parley secrets status\` shows the progress. If it is lost for good, run \`parley secrets accept\`, which says what becomes unreadable`,
    );
  throw new WrongSecretError(`${given} is not the one this database was used with. ${remedy}`);
}

function readLinkKeys(secrets: readonly [Secret, ...Secret[]], { linkKeys }: SecretState): LinkKeys | null {
  if (linkKeys === null) return null;
  return linkKeysOf(createEncryptor({ secrets, linkKeys: null }).decrypt(linkKeys));
}

export async function readSecretState(db: Executor): Promise<SecretState> {
  const { rows } = await sql<{
    secret_fingerprint: Buffer | null;
    newer_secret_fingerprints: Buffer[];
    secret_version: number;
    link_keys: Buffer | null;
  }>`select secret_fingerprint, newer_secret_fingerprints, secret_version, link_keys from installation ${prepared}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the table installation has lost its row");
  return {
    fingerprints:
      row.secret_fingerprint === null ? [] : [row.secret_fingerprint, ...row.newer_secret_fingerprints],
    version: row.secret_version,
    linkKeys: row.link_keys,
  };
}

/**
 * Notes in the database that values are encrypted with a secret from now on. From the second one on, links that don't expire
 * keep the keys they have.
 * @param secrets contain all that the database knows.
 */
export function beginSecret(
  db: Pick<Database, "kysely">,
  secrets: readonly [Secret, ...Secret[]],
  secret: Secret,
): Promise<SecretState> {
  return db.kysely.transaction().execute(async (tx) => {
    await sql`select 1 from installation for update`.execute(tx);
    const state = await readSecretState(tx);
    if (isKnown(state, secret)) return state;
    const oldest = secrets.find(({ fingerprint }) => state.fingerprints[0]?.equals(fingerprint));
    if (oldest === undefined)
      await sql`update installation set secret_fingerprint = ${secret.fingerprint}
        where secret_fingerprint is null`.execute(tx);
    else
      await sql`update installation set link_keys = ${state.linkKeys ?? encryptLinkKeys(secret, oldest)},
        newer_secret_fingerprints = newer_secret_fingerprints || ${secret.fingerprint}::bytea`.execute(tx);
    return readSecretState(tx);
  });
}

/** Makes the current secret the database's; what was encrypted with another one stays unreadable. */
export async function acceptSecret(set: string | null, store: ObjectStore, db: Database): Promise<void> {
  const [text, ...rest] = parseSecrets(set ?? (await readOrCreate(store, false)));
  const secrets = [secretOf(text), ...rest.map(secretOf)] as const;
  const [first] = secrets;
  await db.kysely.transaction().execute(async (tx) => {
    await sql`select 1 from installation for update`.execute(tx);
    const state = await readSecretState(tx);
    const kept = secrets.filter((secret) => isKnown(state, secret));
    const [oldest = first, ...newer] = kept.includes(first) ? kept : [...kept, first];
    await sql`update installation set secret_fingerprint = ${oldest.fingerprint},
      newer_secret_fingerprints = ${newer.map(({ fingerprint }) => fingerprint)}::bytea[],
      link_keys = ${readableLinkKeys(secrets, state) ?? (newer.length === 0 ? null : encryptLinkKeys(first, oldest))}`.execute(
      tx,
    );
  });
}

function encryptLinkKeys(secret: Secret, source: Secret): Buffer {
  const linkKeys = deriveLinkKeys(source);
  return createEncryptor({ secrets: [secret], linkKeys }).encrypt(linkKeysToText(linkKeys));
}

/** The stored keys of links if one of these secrets can decrypt them. */
function readableLinkKeys(secrets: readonly [Secret, ...Secret[]], { linkKeys }: SecretState): Buffer | null {
  if (linkKeys === null) return null;
  try {
    createEncryptor({ secrets, linkKeys: null }).decrypt(linkKeys);
    return linkKeys;
  } catch {
    return null;
  }
}

/** Keeps secrets in the store, replacing its own: after a restore, and to rotate a generated one. */
export async function storeSecrets(store: ObjectStore, secrets: readonly string[]): Promise<void> {
  await store.put(key, Buffer.from(secrets.join(",")));
}

/** The generated secrets. @param isKnown whether the database was used with a secret, which a new one would not be. */
async function readOrCreate(store: ObjectStore, isKnown: boolean): Promise<string> {
  if ((await store.head(key)) === null) {
    if (isKnown)
      throw new WrongSecretError(
        `the secret is missing from the file store, and PARLEY_SECRET is not set. ${remedy}`,
      );
    const made = Buffer.from(createSecret());
    await store.put(key, made, { ifAbsent: true, contentLength: made.length }).catch((error: Error) => {
      if (!(error instanceof ObjectExistsError)) throw error;
    });
  }
  return text((await store.get(key)).body);
}

export function createSecret(): string {
  return randomBytes(32).toString("base64url");
}
