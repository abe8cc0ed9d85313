import { createHmac, randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import type { Database } from "../db/database.ts";
import { ObjectExistsError, type ObjectStore } from "../storage/store.ts";

/** Where a secret that is not set is kept: with the files, which every process of an installation shares. */
const key = "parley/secret";

/** The secret is not the one that this database's data was encrypted with; the message is one line with the remedy. */
export class WrongSecretError extends Error {}

const remedy =
  "Use the PARLEY_SECRET that was set before, or restore the object `parley/secret` of the file store. If it is lost for good, run `parley secret accept`, which says what becomes unreadable";

/**
 * The key for signed links and encrypted columns: the one that is set, or one created at the first start. Of several
 * processes that start at once, one creates it and all use it.
 * @throws WrongSecretError when the database was used with another one.
 */
export async function openSecret(set: string | null, store: ObjectStore, db: Database): Promise<string> {
  const known = await readFingerprint(db);
  const secret = set ?? (await readOrCreate(store, known !== null));
  const fingerprint = fingerprintOf(secret);
  if (known === null) await rememberFingerprint(db, fingerprint, false);
  // Read again: another process may have stored its own in the meantime.
  const stored = known ?? (await readFingerprint(db));
  if (stored === null || !stored.equals(fingerprint))
    throw new WrongSecretError(
      `${set === null ? "the secret in the file store" : "PARLEY_SECRET"} is not the one this database was used with. ${remedy}`,
    );
  return secret;
}

/** Makes the current secret the database's; what was encrypted with another one stays unreadable. */
export async function acceptSecret(set: string | null, store: ObjectStore, db: Database): Promise<void> {
  await rememberFingerprint(db, fingerprintOf(set ?? (await readOrCreate(store, false))), true);
}

/** Keeps a secret of another store in this one, replacing its own: for a restored installation. */
export async function storeSecret(store: ObjectStore, secret: string): Promise<void> {
  await store.put(key, Buffer.from(secret));
}

/** @param isKnown whether the database was used with a secret, which a new one would not be. */
async function readOrCreate(store: ObjectStore, isKnown: boolean): Promise<string> {
  if ((await store.head(key)) === null) {
    if (isKnown)
      throw new WrongSecretError(
        `the secret is missing from the file store, and PARLEY_SECRET is not set. ${remedy}`,
      );
    const made = Buffer.from(randomBytes(32).toString("base64url"));
    await store.put(key, made, { ifAbsent: true, contentLength: made.length }).catch((error: Error) => {
      if (!(error instanceof ObjectExistsError)) throw error;
    });
  }
  return text((await store.get(key)).body);
}

/** Tells secrets apart without saying anything about them: an HMAC (RFC 2104) keyed with the secret. */
function fingerprintOf(secret: string): Buffer {
  return createHmac("sha256", secret).update("fingerprint of the secret of a Parley database").digest();
}

async function readFingerprint(db: Database): Promise<Buffer | null> {
  const { rows } = await sql<{ secret_fingerprint: Buffer | null }>`
    select secret_fingerprint from installation`.execute(db.kysely);
  return rows[0]?.secret_fingerprint ?? null;
}

async function rememberFingerprint(db: Database, fingerprint: Buffer, replace: boolean): Promise<void> {
  await sql`update installation set secret_fingerprint = ${fingerprint}
    where ${replace} or secret_fingerprint is null`.execute(db.kysely);
}
