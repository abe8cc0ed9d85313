import { createHash, randomBytes, randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { AuditActor } from "../../../platform/audit/record.ts";
import { units } from "../../../platform/config/values.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";

export type LinkPurpose = "invitation" | "password_reset";

export const invitationTtlMs = 7 * units.d;
/** For a link that an admin hands over. */
export const resetByAdminTtlMs = units.d;
/** For a link that was requested by email. */
export const resetByMailTtlMs = units.h;

const paths = { invitation: "invitations", password_reset: "password-reset" } as const;

/** 256 random bits as base64url. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/** The user a link is for. */
export interface LinkOwner {
  readonly id: string;
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly email: string;
  readonly email_key: string;
  readonly name: string;
}

/** A link in two copies that differ in their token and are used up together; the URLs are not stored. */
export interface OneTimeLink {
  /** For the user who created the link, to hand over. */
  readonly url: string;
  /** Only sent by email: using it proves that the email arrived. */
  readonly mailedUrl: string;
  readonly expiresAt: Date;
}

/**
 * Creates a link, which replaces an earlier one of the same purpose.
 * @param input.creator the admin who creates it to hand over; null: the user requested it by email. When that admin's access
 * or the token used ends, the handed-over copy stops working.
 * @throws ProblemError `forbidden` when the creator's access has ended since the request was authenticated.
 */
export async function createLink(
  tx: Tx,
  input: {
    userId: string;
    purpose: LinkPurpose;
    ttlMs: number;
    baseUrl: string;
    creator: AuditActor | null;
  },
): Promise<OneTimeLink> {
  const [token, mailedToken] = [newToken(), newToken()];
  const expiresAt = new Date(Date.now() + input.ttlMs);
  const values = {
    id: randomUUIDv7(),
    hash: hashLink(input.purpose, token),
    mailed_hash: hashLink(input.purpose, mailedToken),
    expires_at: expiresAt,
    ...(await lockCreator(tx, input.creator)),
  };
  await tx
    .insertInto("one_time_links")
    .values({ ...values, user_id: input.userId, purpose: input.purpose })
    .onConflict((conflict) =>
      conflict
        .columns(["user_id", "purpose"])
        .doUpdateSet({ ...values, created_at: sql`now()`, used_at: null }),
    )
    .execute();
  const start = `${input.baseUrl}/${paths[input.purpose]}/`;
  return { url: start + token, mailedUrl: start + mailedToken, expiresAt };
}

/** Locks the creator's access until the end of the transaction: revocation waits, and then finds the link. */
async function lockCreator(
  tx: Tx,
  creator: AuditActor | null,
): Promise<{ created_by: string | null; created_by_token_id: string | null }> {
  const created_by = creator?.userId ?? null;
  const isToken =
    creator?.credential === "personal_access_token" || creator?.credential === "workspace_access_token";
  const created_by_token_id = isToken ? creator.credentialId : null;
  const ended = new ProblemError(
    "forbidden",
    "your access was just revoked; sign in again or use another token",
  );
  if (created_by !== null) {
    const { rows } = await sql`
      select 1 from users where id = ${created_by} and deactivated_at is null and role = 'admin' for share`.execute(
      tx,
    );
    if (rows.length === 0) throw ended;
  }
  if (created_by_token_id !== null) {
    const { rows } = await sql`
      select 1 from access_tokens where id = ${created_by_token_id} and revoked_at is null for share`.execute(
      tx,
    );
    if (rows.length === 0) throw ended;
  }
  return { created_by, created_by_token_id };
}

function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** The user of an active link. Does not use the link up, because link previews load it too. */
export async function findLinkOwner(
  db: Database,
  purpose: LinkPurpose,
  token: string,
): Promise<LinkOwner | undefined> {
  if (!tokenPattern.test(token)) return undefined;
  return activeLinks(db.kysely, purpose, token)
    .innerJoin("users as u", "u.id", "l.user_id")
    .innerJoin("workspaces as w", "w.id", "u.workspace_id")
    .select(["u.id", "u.workspace_id", "w.name as workspace_name", "u.email", "u.email_key", "u.name"])
    .where("u.deactivated_at", "is", null)
    .executeTakeFirst();
}

/**
 * Uses a link up.
 * @returns the user it was for, and whether this was the mailed copy; undefined when the link is not, or no longer, active.
 */
export async function consumeLink(
  tx: Tx,
  purpose: LinkPurpose,
  token: string,
): Promise<{ userId: string; isMailed: boolean } | undefined> {
  const hash = hashLink(purpose, token);
  const used = await tx
    .updateTable("one_time_links")
    .set({ used_at: sql`now()` })
    .where((eb) => eb.or([eb("hash", "=", hash), eb("mailed_hash", "=", hash)]))
    .where("purpose", "=", purpose)
    .where("used_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .returning(["user_id", "mailed_hash"])
    .executeTakeFirst();
  return used && { userId: used.user_id, isMailed: used.mailed_hash?.equals(hash) ?? false };
}

/**
 * When the active password reset link that an admin created expires; undefined when there is none. The lifetime
 * distinguishes it from a link that the user requested.
 */
export async function findResetByAdmin(tx: Tx, userId: string): Promise<Date | undefined> {
  const row = await tx
    .selectFrom("one_time_links")
    .select("expires_at")
    .where("user_id", "=", userId)
    .where("purpose", "=", "password_reset")
    .where("used_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .where(sql<boolean>`expires_at - created_at > make_interval(secs => ${(2 * resetByMailTtlMs) / 1000})`)
    .executeTakeFirst();
  return row?.expires_at;
}

export async function deleteLinks(tx: Tx, userId: string, purpose?: LinkPurpose): Promise<void> {
  await tx
    .deleteFrom("one_time_links")
    .where("user_id", "=", userId)
    .$call((query) => (purpose === undefined ? query : query.where("purpose", "=", purpose)))
    .execute();
}

/** Removes links that expired more than a day ago. */
async function sweepLinks(db: Database): Promise<void> {
  await sql`delete from one_time_links where expires_at < now() - interval '1 day'`.execute(db.kysely);
}

function activeLinks(db: Executor, purpose: LinkPurpose, token: string) {
  const hash = hashLink(purpose, token);
  return db
    .selectFrom("one_time_links as l")
    .where((eb) => eb.or([eb("l.hash", "=", hash), eb("l.mailed_hash", "=", hash)]))
    .where("l.purpose", "=", purpose)
    .where("l.used_at", "is", null)
    .where("l.expires_at", ">", sql<Date>`now()`);
}

/** As with tokens, a plain SHA-256 suffices for 256 random bits. */
function hashLink(purpose: LinkPurpose, token: string): Buffer {
  return createHash("sha256").update(`${purpose}:${token}`).digest();
}

export const deleteDeadLinksKind = defineRecurringJob({
  name: "delete_dead_links",
  label: (i18n) => i18n.t("Delete dead links"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => sweepLinks(db),
});
