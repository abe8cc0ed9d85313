import { createHash, randomBytes, randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { units } from "../config-values.ts";
import type { Database, Executor, Tx } from "../db/database.ts";

export type LinkPurpose = "invitation" | "password_reset";

export const invitationTtlMs = 7 * units.d;
/** A link that an admin hands over. */
export const resetByAdminTtlMs = units.d;
/** A link that was asked for by mail. */
export const resetByMailTtlMs = units.h;

const paths = { invitation: "invitations", password_reset: "password-reset" } as const;

/** 256 random bits as base64url. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/** Whom a link is for. */
export interface LinkOwner {
  readonly id: string;
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly email: string;
  readonly email_key: string;
  readonly name: string;
}

/** Makes a link; an earlier one of the same purpose is good no longer. @returns its address, which is not stored. */
export async function makeLink(
  tx: Tx,
  input: { userId: string; purpose: LinkPurpose; ttlMs: number; baseUrl: string },
): Promise<{ url: string; expiresAt: Date }> {
  const token = randomBytes(32).toString("base64url");
  const expiresAt = new Date(Date.now() + input.ttlMs);
  const values = { id: randomUUIDv7(), hash: hashLink(input.purpose, token), expires_at: expiresAt };
  await tx
    .insertInto("one_time_links")
    .values({ ...values, user_id: input.userId, purpose: input.purpose })
    .onConflict((conflict) =>
      conflict
        .columns(["user_id", "purpose"])
        .doUpdateSet({ ...values, created_at: sql`now()`, used_at: null }),
    )
    .execute();
  return { url: `${input.baseUrl}/${paths[input.purpose]}/${token}`, expiresAt };
}

/** Whom a link is for that is good now. Looking does not use it up: programs that preview links look, too. */
export async function findLinkOwner(
  db: Database,
  purpose: LinkPurpose,
  token: string,
): Promise<LinkOwner | undefined> {
  if (!tokenPattern.test(token)) return undefined;
  return goodLinks(db.kysely, purpose, token)
    .innerJoin("users as u", "u.id", "l.user_id")
    .innerJoin("workspaces as w", "w.id", "u.workspace_id")
    .select(["u.id", "u.workspace_id", "w.name as workspace_name", "u.email", "u.email_key", "u.name"])
    .where("u.deactivated_at", "is", null)
    .executeTakeFirst();
}

/** Uses a link up. @returns whose it was; undefined when it is not, or no longer, good. */
export async function consumeLink(tx: Tx, purpose: LinkPurpose, token: string): Promise<string | undefined> {
  const used = await tx
    .updateTable("one_time_links")
    .set({ used_at: sql`now()` })
    .where("hash", "=", hashLink(purpose, token))
    .where("purpose", "=", purpose)
    .where("used_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .returning("user_id")
    .executeTakeFirst();
  return used?.user_id;
}

/**
 * Until when a link is good that an admin made for a new password; undefined when there is none. Links of both kinds are
 * told apart by how long they last.
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
    .$if(purpose !== undefined, (query) => query.where("purpose", "=", purpose ?? ""))
    .execute();
}

/** Removes links that were good until a day ago. */
export async function sweepLinks(db: Database): Promise<void> {
  await sql`delete from one_time_links where expires_at < now() - interval '1 day'`.execute(db.kysely);
}

function goodLinks(db: Executor, purpose: LinkPurpose, token: string) {
  return db
    .selectFrom("one_time_links as l")
    .where("l.hash", "=", hashLink(purpose, token))
    .where("l.purpose", "=", purpose)
    .where("l.used_at", "is", null)
    .where("l.expires_at", ">", sql<Date>`now()`);
}

/** As with tokens, a plain SHA-256 suffices for 256 random bits. */
function hashLink(purpose: LinkPurpose, token: string): Buffer {
  return createHash("sha256").update(`${purpose}:${token}`).digest();
}
