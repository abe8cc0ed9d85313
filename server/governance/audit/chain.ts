import { createHash } from "node:crypto";

/** An entry with everything its hash covers. */
export interface ChainEntry {
  readonly id: string;
  readonly workspace_id: string;
  readonly occurred_at: Date;
  readonly action: string;
  readonly user_id: string | null;
  readonly credential: string | null;
  readonly credential_id: string | null;
  readonly subject_type: string | null;
  readonly subject_id: string | null;
  readonly user_email: string | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
  /** Null when the three values above were erased; `who_hash` then replaces them. */
  readonly who_salt: Buffer | null;
  readonly who_hash: Buffer | null;
  /** JSON as PostgreSQL formats a jsonb. */
  readonly details: string;
  /** Null when the details were erased; `details_hash` then replaces them. */
  readonly details_salt: Buffer | null;
  readonly details_hash: Buffer | null;
}

/** The columns of a ChainEntry. */
export const chainColumns = `id, workspace_id, occurred_at, action, user_id, credential, credential_id, subject_type,
  subject_id, user_email, ip, user_agent, who_salt, who_hash, details::text as details, details_salt, details_hash`;

/** The previous hash of a workspace's first entry. */
export const genesis = Buffer.alloc(32);

/**
 * The hash of an entry in the chain: SHA-256(previous hash || JSON of its fields), with values that may have to be erased
 * as SHA-256(salt || value). docs/guide/audit.md describes it in words.
 */
export function hashEntry(previous: Buffer, position: number, entry: ChainEntry): Buffer {
  const fields = JSON.stringify([
    1,
    entry.workspace_id,
    position,
    entry.id,
    entry.occurred_at.toISOString(),
    entry.action,
    entry.user_id,
    entry.credential,
    entry.credential_id,
    entry.subject_type,
    entry.subject_id,
    whoCommitment(entry).toString("hex"),
    detailsCommitment(entry).toString("hex"),
  ]);
  return createHash("sha256").update(previous).update(fields).digest();
}

/** The hash of the user's email, IP address and user agent. */
export function whoCommitment(entry: ChainEntry): Buffer {
  return entry.who_salt === null
    ? (entry.who_hash ?? Buffer.alloc(0))
    : salted(entry.who_salt, JSON.stringify([entry.user_email, entry.ip, entry.user_agent]));
}

/** The hash of the details. */
export function detailsCommitment(entry: ChainEntry): Buffer {
  return entry.details_salt === null
    ? (entry.details_hash ?? Buffer.alloc(0))
    : salted(entry.details_salt, entry.details);
}

function salted(salt: Buffer, text: string): Buffer {
  return createHash("sha256").update(salt).update(text).digest();
}

/** Whether an erased field has a value again, which the hash would not cover. */
export function hasUnhashedValues(entry: ChainEntry): boolean {
  const person = [entry.user_email, entry.ip, entry.user_agent];
  return (
    (entry.who_salt === null && person.some((value) => value !== null)) ||
    (entry.details_salt === null && entry.details !== "{}")
  );
}
