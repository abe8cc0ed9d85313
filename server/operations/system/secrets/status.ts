import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import { idBytes } from "../../../platform/crypto/keyring.ts";
import type { OpenSecrets } from "../../../platform/crypto/secret.ts";
import { readSecretState } from "../../../platform/crypto/secret.ts";
import type { Database, Executor } from "../../../platform/db/database.ts";
import { findProcesses } from "../processes.ts";
import { countValues, encryptedValues, findOthers } from "./encrypted-values.ts";
import { decryptOrNull, describeProcesses, findLaggards } from "./rotate.ts";

/** How far a rotation is. */
export interface RotationProgress {
  /** Stored values. */
  readonly total: number;
  /** Values that are encrypted with the new secret. */
  readonly done: number;
}

/** How far the rotation in progress is; null without one. */
export async function readRotationProgress(db: Executor): Promise<RotationProgress | null> {
  const { fingerprints } = await readSecretState(db);
  const newest = fingerprints.at(-1);
  if (fingerprints.length < 2 || newest === undefined) return null;
  return countAll(db, newest.subarray(0, idBytes));
}

async function countAll(db: Executor, keyId: Buffer): Promise<RotationProgress> {
  let [total, done] = [0, 0];
  for (const place of encryptedValues) {
    const count = await countValues(db, place, keyId);
    total += count.total;
    done += count.total - count.others;
  }
  return { total, done };
}

/** The state of the secrets, for `parley secrets status`. */
export interface SecretStatus {
  /**
   * `rotating`: stored values are being encrypted with the first secret. `incomplete`: the rotation has ended, but stored
   * values need another one. `removable`: none needs the others. `single`: there is one secret.
   */
  readonly state: "single" | "rotating" | "incomplete" | "removable";
  /** The ids of the given secrets, that which encrypts first. */
  readonly secret_ids: readonly string[];
  readonly values: number;
  /** Values still encrypted with another secret than the first. */
  readonly remaining: number;
  /** Values that no given secret can decrypt, by where they are. */
  readonly unreadable: Readonly<Record<string, number>>;
  /** Running processes that encrypt with another secret than the first. */
  readonly processes: readonly string[];
}

/** Reads all that is not encrypted with the first secret, and counts it. */
export async function readSecretStatus(
  db: Database,
  secrets: OpenSecrets,
  encryptor: Encryptor,
): Promise<SecretStatus> {
  const { fingerprints } = await readSecretState(db.kysely);
  let [values, remaining] = [0, 0];
  const unreadable: Record<string, number> = {};
  for (const place of encryptedValues) {
    values += (await countValues(db.kysely, place, encryptor.keyId)).total;
    for await (const found of findOthers(db.kysely, place, encryptor.keyId)) {
      const lost = found.filter(({ value }) => decryptOrNull(encryptor, value) === null).length;
      remaining += found.length - lost;
      if (lost > 0) unreadable[place.name] = (unreadable[place.name] ?? 0) + lost;
    }
  }
  const ids = secrets.secrets.map(({ id }) => id.toString("hex"));
  const laggards = findLaggards(await findProcesses(db), ids[0] ?? "");
  // Never rotated: values have no id yet.
  if (secrets.linkKeys === null) remaining = 0;
  return {
    state:
      fingerprints.length > 1
        ? "rotating"
        : remaining > 0
          ? "incomplete"
          : ids.length > 1
            ? "removable"
            : "single",
    secret_ids: ids,
    values,
    remaining,
    unreadable,
    processes: laggards.map((one) => describeProcesses([one])),
  };
}
