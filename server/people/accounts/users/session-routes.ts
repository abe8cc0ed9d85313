import type { FastifyRequest } from "fastify";
import * as contract from "../../../../contract/accounts/account-sessions.ts";
import { unbindMySingleSignOn } from "../../../../contract/accounts/my-single-sign-on.ts";
import { because } from "../../../../contract/causes/causes.ts";
import type { SecondFactorMethod } from "../../../../contract/errors.ts";
import { actorOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Role } from "../../../platform/auth/principal.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import type { StoredRules } from "../../../platform/db/json-columns.ts";
import { readQuarantine } from "../../../platform/db/quarantine.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, Ready, route } from "../../../platform/http/routing/route.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { languageCookie } from "../../../platform/language/request-language.ts";
import { endOf, findRules, hasProvenEnough, secondFactorDue } from "../../access/security-rules.ts";
import { mailOf } from "../one-time-links/account-changes.ts";
import { findSecondFactor } from "../sign-in/second-factor.ts";
import { clearedSessionCookie, sessionCookie, sessionCookieOf } from "../sign-in/session-cookie.ts";
import {
  endOwnSession,
  endSessionOf,
  endSessions,
  findSessions,
  type SignInMethod,
} from "../sign-in/sessions.ts";
import { signIn } from "../sign-in/sign-in.ts";
import { tooManyAttempts } from "../sign-in/throttle.ts";
import { findIdentities, unbindSingleSignOn } from "./identities.ts";
import { changeMe, changePassword, currentSession, findMe } from "./me.ts";
import { refuseUnproven } from "./refuse-unproven.ts";

export interface PresentDependencies {
  readonly db: Database;
  /** Whether a user sees the state of the installation. */
  readonly managesSystem: (user: { readonly role: Role; readonly workspaceId: string }) => Promise<boolean>;
}

/** Presents a user and their session, as Get Me returns them. */
export function createPresentMe({ db, managesSystem }: PresentDependencies) {
  return async (userId: string, sessionId: string | null) => {
    const me = await findMe(db, userId);
    const session = (await findSessions(db.kysely, userId)).find(({ id }) => id === sessionId);
    const quarantine = await readQuarantine(db);
    return {
      user: {
        id: me.id,
        name: me.name,
        email: me.email,
        role: me.role as Role,
        language: me.language,
        time_zone: me.time_zone,
        browser_time_zone: me.browser_time_zone,
      },
      workspace: { id: me.workspace_id, name: me.workspace_name },
      session:
        session === undefined
          ? null
          : {
              id: session.id,
              method: session.method as SignInMethod,
              second_factor: session.second_factor as SecondFactorMethod | null,
              created_datetime: session.created_at.toISOString(),
              expires_at: expiryOf(me.security_rules, session),
            },
      has_password: me.password_hash !== null,
      has_second_factor: (await findSecondFactor(db.kysely, userId)) !== undefined,
      second_factor_due: session === undefined ? null : dueOf(me, session),
      quarantine: quarantine && { backup: quarantine.backup, since: quarantine.since.toISOString() },
      has_calendars: me.has_calendars,
      manages_system: await managesSystem({ role: me.role as Role, workspaceId: me.workspace_id }),
      identities: (await findIdentities(db.kysely, userId)).map(({ issuer, created_at }) => ({
        issuer,
        bound_datetime: created_at.toISOString(),
      })),
    };
  };
}

function expiryOf(
  rules: StoredRules | null,
  { created_at: since, expires_at: expiresAt }: { readonly created_at: Date; readonly expires_at: Date },
): string {
  return (endOf(rules, { since, expiresAt, kind: "session" }) ?? expiresAt).toISOString();
}

/** Until when the user of a session has to set up a second factor; null where the session has proven one, or needs none. */
function dueOf(
  me: Awaited<ReturnType<typeof findMe>>,
  session: { readonly method: SignInMethod; readonly second_factor: string | null },
) {
  const due = hasProvenEnough({ method: session.method, hasSecondFactor: session.second_factor !== null })
    ? null
    : secondFactorDue(me.security_rules, { role: me.role as Role, userSince: me.created_at });
  return due && { datetime: due.toISOString(), is_over: due <= new Date() };
}

/** Sessions and the caller's own account, for the web app. */
export function sessionRoutes(
  api: Api,
  deps: PresentDependencies & {
    readonly jobs: JobQueue;
    readonly encryptor: Encryptor;
    readonly config: Pick<Config, "baseUrl" | "signInProviders" | "smtp">;
  },
): void {
  const { db, config } = deps;
  const { baseUrl } = config;

  const presentMe = createPresentMe(deps);
  const presentCaller = ({ principal }: FastifyRequest) =>
    presentMe(principal.userId, currentSession(principal));

  route(api, contract.signInWithPassword, async ({ request, body }) => {
    const result = await signIn(deps, request, body);
    if (result.outcome === "wait") throw tooManyAttempts(result.retryAfterSec);
    const headers = { "www-authenticate": 'Bearer realm="parley"' };
    if (result.outcome === "code_required")
      throw new ProblemError(
        "second_factor_required",
        result.methods.includes("recovery_code")
          ? "send the call again with code: the six digits of your authenticator app, or a recovery code"
          : "send the call again with code: the six digits of your authenticator app",
        { headers, methods: result.methods },
      );
    if (result.outcome !== "signed_in")
      throw new ProblemError(
        "sign_in_refused",
        result.outcome === "code_refused" ? because("code_refused") : because("password_refused"),
        { headers },
      );
    await endSessionOf(db, sessionCookieOf(request, baseUrl));
    return new Ready(JSON.stringify(await presentMe(result.userId, result.sessionId)), {
      "set-cookie": sessionCookie(baseUrl, result.cookie),
    });
  });

  route(api, contract.getMe, ({ request }) => presentCaller(request));

  route(api, contract.signOut, async ({ principal, request }) => {
    const sessionId = currentSession(principal);
    if (sessionId === null)
      throw new ProblemError(
        "forbidden",
        "tokens can't sign out; revoke the token with DELETE /_/api/v1/tokens/:id",
      );
    await db.kysely.transaction().execute(async (tx) => {
      if (await endOwnSession(tx, principal.userId, sessionId))
        await recordAudit(tx, actorOf(request), { action: "signed_out" });
    });
    return new Ready('{"success":true}', { "set-cookie": clearedSessionCookie(baseUrl) });
  });

  route(api, contract.listSessions, async ({ principal }) => {
    const current = currentSession(principal);
    const rules = await findRules(db.kysely, principal.workspaceId);
    const rows = await findSessions(db.kysely, principal.userId);
    return {
      sessions: rows.map((row) => ({
        id: row.id,
        current: row.id === current,
        method: row.method as SignInMethod,
        second_factor: row.second_factor as SecondFactorMethod | null,
        ip: row.last_ip ?? row.ip,
        sign_in_ip: row.ip,
        user_agent: row.user_agent,
        created_datetime: row.created_at.toISOString(),
        last_used_datetime: row.last_used_at.toISOString(),
        expires_at: expiryOf(rules, row),
      })),
    };
  });

  route(api, contract.endSession, async ({ principal, params, request }) => {
    await db.kysely.transaction().execute(async (tx) => {
      if (!(await endOwnSession(tx, principal.userId, params.session_id)))
        throw new ProblemError("not_found", `you have no session ${params.session_id}`);
      await recordAudit(tx, actorOf(request), {
        action: "sessions_ended",
        subject: { type: "session", id: params.session_id },
        details: { count: 1 },
      });
    });
    return { success: true as const };
  });

  route(api, contract.endSessions, async ({ principal, request }) => {
    const ended = await db.kysely.transaction().execute(async (tx) => {
      const count = await endSessions(tx, principal.userId);
      await recordAudit(tx, actorOf(request), { action: "sessions_ended", details: { count } });
      return count;
    });
    return new Ready(JSON.stringify({ ended }), { "set-cookie": clearedSessionCookie(baseUrl) });
  });

  route(api, contract.changePassword, async ({ request, body }) => {
    const ended = await changePassword(db, request, body);
    return { success: true as const, ended_sessions: ended.sessions, revoked_tokens: ended.tokens };
  });

  route(
    api,
    contract.updateMe,
    async ({ request, body }) => {
      await changeMe(db, request, body);
      const headers = body.language === undefined ? {} : { "set-cookie": languageCookie(body.language) };
      return new Ready(JSON.stringify(await presentCaller(request)), headers);
    },
    { keepNulls: true },
  );

  route(api, unbindMySingleSignOn, async ({ principal, request, query }) => {
    const { issuer } = query;
    await refuseUnproven(db.kysely, principal, config.signInProviders);
    await db.kysely.transaction().execute((tx) =>
      unbindSingleSignOn(tx, actorOf(request), principal.userId, {
        issuer,
        providers: config.signInProviders,
        mail: mailOf(deps),
      }),
    );
    deps.jobs.wake();
    return presentCaller(request);
  });
}
