import type { FastifyRequest } from "fastify";
import type { Principal } from "../access/principal.ts";
import { actorOf, recordAudit } from "../audit/record.ts";
import type { Database } from "../db/database.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import { passwordFault } from "./password-rules.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";
import { endSessions } from "./sessions.ts";
import { forgetAttempts, keyOf, takeAttempt } from "./throttle.ts";

/** A person, the workspace, and whether there is a password. */
export function findMe(db: Database, userId: string) {
  return db.kysely
    .selectFrom("users as u")
    .innerJoin("workspaces as w", "w.id", "u.workspace_id")
    .select([
      "u.id",
      "u.name",
      "u.email",
      "u.email_key",
      "u.role",
      "u.password_hash",
      "w.id as workspace_id",
      "w.name as workspace_name",
    ])
    .where("u.id", "=", userId)
    .executeTakeFirstOrThrow();
}

/** Gives a person another name. */
export async function renameMe(db: Database, request: FastifyRequest, name: string): Promise<void> {
  const { principal } = request;
  await db.kysely.transaction().execute(async (tx) => {
    const changed = await tx
      .updateTable("users")
      .set({ name })
      .where("id", "=", principal.userId)
      .where("name", "!=", name)
      .returning("id")
      .executeTakeFirst();
    if (changed === undefined) return;
    await recordAudit(tx, actorOf(request), {
      action: "user_changed",
      subject: { type: "user", id: principal.userId },
      details: { name },
    });
  });
}

/**
 * Takes another password for the caller. Guessing the present one is slowed down as it is at the door: who finds an
 * unlocked computer must not find out the password there.
 * @throws ProblemError `invalid_input`, `wrong_state` for a person without a password, `rate_limited`.
 */
export async function changePassword(
  db: Database,
  request: FastifyRequest,
  given: { readonly current_password: string; readonly new_password: string },
): Promise<void> {
  const { principal } = request;
  const me = await findMe(db, principal.userId);
  const stored = me.password_hash;
  if (stored === null)
    throw new ProblemError("wrong_state", "you have no password yet; ask an admin for a link to set one");
  const fault = passwordFault(given.new_password, me.email_key);
  if (fault !== null) throw invalidInput([{ pointer: "/new_password", detail: fault }]);
  const key = keyOf("change", principal.userId);
  const wait = await takeAttempt(db, [{ key, free: 5, leakSec: 900 }]);
  if (wait > 0) throw tooManyAttempts(wait);
  const { passwordWork } = request.server;
  if (!(await passwordWork.run(() => verifyPassword(stored, given.current_password))))
    throw invalidInput([{ pointer: "/current_password", detail: "is not your present password" }]);
  const password_hash = await passwordWork.run(() => hashPassword(given.new_password));
  await db.kysely.transaction().execute(async (tx) => {
    const changed = await tx
      .updateTable("users")
      .set({ password_hash })
      .where("id", "=", me.id)
      // Meanwhile a reset may have been used, or the person deactivated.
      .where("password_hash", "=", stored)
      .where("deactivated_at", "is", null)
      .returning("id")
      .executeTakeFirst();
    if (changed === undefined)
      throw new ProblemError("wrong_state", "the password was changed elsewhere at this moment");
    await forgetAttempts(tx, [key]);
    await endSessions(tx, me.id, currentSession(principal) ?? undefined);
    await recordAudit(tx, actorOf(request), {
      action: "password_changed",
      subject: { type: "user", id: me.id },
    });
  });
}

/** The session that asks; null when a token does. */
export function currentSession(principal: Principal): string | null {
  return principal.tokenType === "session" ? principal.tokenId : null;
}

export function tooManyAttempts(retryAfterSec: number): ProblemError {
  return new ProblemError(
    "rate_limited",
    `too many attempts; try again in ${retryAfterSec} ${retryAfterSec === 1 ? "second" : "seconds"}`,
    { headers: { "retry-after": String(retryAfterSec) } },
  );
}
