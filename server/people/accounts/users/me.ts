import type { FastifyRequest } from "fastify";
import { because } from "../../../../contract/causes/causes.ts";
import { chooseLanguage } from "../../../../shared/languages.ts";
import { actorOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database } from "../../../platform/db/database.ts";
import { transactWithRetry } from "../../../platform/db/retry.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { acceptedLanguages } from "../../../platform/language/request-language.ts";
import { deleteLinks } from "../one-time-links/one-time-links.ts";
import { passwordProblem, passwordProblems } from "../sign-in/password-rules.ts";
import { hashPassword, verifyPassword } from "../sign-in/passwords.ts";
import { endSessions } from "../sign-in/sessions.ts";
import { deleteAttempts, keyOf, takeAttempt, tooManyAttempts } from "../sign-in/throttle.ts";
import { type EndedAccess, endTokens } from "./end-access.ts";

/** A user with their workspace and password hash. */
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
      "u.language",
      "u.time_zone",
      "u.browser_time_zone",
      "u.password_hash",
      "u.created_at",
      "w.security_rules",
      "w.id as workspace_id",
      "w.name as workspace_name",
    ])
    .select(({ exists, selectFrom }) =>
      exists(selectFrom("calendars as c").select("c.id").whereRef("c.user_id", "=", "u.id"))
        .$castTo<boolean>()
        .as("has_calendars"),
    )
    .where("u.id", "=", userId)
    .executeTakeFirstOrThrow();
}

/** Changes the caller's name, language and time zones, as far as they are given. */
export async function changeMe(
  db: Database,
  request: FastifyRequest,
  given: {
    readonly name?: string | null | undefined;
    readonly language?: string | null | undefined;
    readonly time_zone?: string | null | undefined;
    readonly browser_time_zone?: string | undefined;
  },
): Promise<void> {
  const { userId } = request.principal;
  await db.kysely.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom("users")
      .select(["name", "language", "time_zone", "browser_time_zone"])
      .where("id", "=", userId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const name = given.name ?? before.name;
    const { language = before.language, time_zone = before.time_zone } = given;
    const { browser_time_zone = before.browser_time_zone } = given;
    const details = {
      ...(name === before.name ? {} : { name }),
      ...(language === before.language ? {} : { language }),
      ...(time_zone === before.time_zone ? {} : { time_zone }),
    };
    const isChanged = Object.keys(details).length > 0;
    if (isChanged || browser_time_zone !== before.browser_time_zone)
      await tx
        .updateTable("users")
        .set({ ...details, browser_time_zone })
        .where("id", "=", userId)
        .execute();
    // Like its language, the browser's time zone is no change that the user makes.
    if (!isChanged) return;
    await recordAudit(tx, actorOf(request), {
      action: "user_changed",
      subject: { type: "user", id: userId },
      details,
    });
  });
}

/**
 * Remembers the language of the browser that a user opens the app with, for emails.
 * @param known what is remembered so far.
 */
export async function rememberBrowserLanguage(
  { kysely }: Database,
  request: FastifyRequest,
  { userId, known }: { readonly userId: string; readonly known: string | null },
): Promise<void> {
  const wanted = acceptedLanguages(request.headers["accept-language"]);
  if (wanted.length === 0) return;
  const language = chooseLanguage(wanted);
  if (language === known) return;
  await kysely.updateTable("users").set({ browser_language: language }).where("id", "=", userId).execute();
}

/**
 * Changes the caller's password. Guesses of the current one are throttled as at sign-in, so that someone at an unlocked
 * computer can't find it out.
 * @throws ProblemError `invalid_input`, `wrong_state` for a user without a password, `rate_limited`.
 */
export async function changePassword(
  db: Database,
  request: FastifyRequest,
  given: {
    readonly current_password: string;
    readonly new_password: string;
    /** Ends the caller's other sessions. */
    readonly end_sessions: boolean;
    /** Revokes all tokens and app access of the caller. */
    readonly end_tokens: boolean;
  },
): Promise<EndedAccess> {
  const { principal } = request;
  const me = await findMe(db, principal.userId);
  const stored = me.password_hash;
  if (stored === null) throw new ProblemError("wrong_state", because("no_password"));
  const problem = passwordProblem(given.new_password, me.email_key);
  if (problem !== null) throw invalidInput([{ pointer: "/new_password", detail: passwordProblems[problem] }]);
  const key = keyOf("change", principal.userId);
  const wait = await takeAttempt(db, [{ key, free: 5, leakSec: 900 }]);
  if (wait > 0) throw tooManyAttempts(wait);
  const { passwordWork } = request.server;
  if (!(await passwordWork.run(() => verifyPassword(stored, given.current_password))))
    throw invalidInput([{ pointer: "/current_password", detail: "is not your current password" }]);
  const password_hash = await passwordWork.run((cost) => hashPassword(given.new_password, cost));
  return transactWithRetry(db, async (tx) => {
    const changed = await tx
      .updateTable("users")
      .set({ password_hash })
      .where("id", "=", me.id)
      // A reset link may have been used, or the user deactivated, in the meantime.
      .where("password_hash", "=", stored)
      .where("deactivated_at", "is", null)
      .returning("id")
      .executeTakeFirst();
    if (changed === undefined) throw new ProblemError("wrong_state", because("password_changed_elsewhere"));
    await deleteAttempts(tx, [key]);
    const tokens = given.end_tokens ? await endTokens(tx, me.id) : 0;
    const sessions = given.end_sessions
      ? await endSessions(tx, me.id, currentSession(principal) ?? undefined)
      : 0;
    // Someone else may hold a password reset link, which would undo this change.
    await deleteLinks(tx, me.id, "password_reset");
    await recordAudit(tx, actorOf(request), {
      action: "password_changed",
      subject: { type: "user", id: me.id },
      details: { ended_sessions: sessions, revoked_tokens: tokens },
    });
    return { sessions, tokens };
  });
}

/** The id of the caller's session; null when the caller uses a token. */
export function currentSession(principal: Principal): string | null {
  return principal.tokenType === "session" ? principal.tokenId : null;
}
