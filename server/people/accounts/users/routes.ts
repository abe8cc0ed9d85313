import type { FastifyRequest } from "fastify";
import * as contract from "../../../../contract/accounts/account-users.ts";
import { because } from "../../../../contract/causes/causes.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import type { StoredRules } from "../../../platform/db/json-columns.ts";
import { transactWithRetry } from "../../../platform/db/retry.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { languageOf } from "../../../platform/language/request-language.ts";
import { findRules } from "../../access/security-rules.ts";
import { mailOf } from "../one-time-links/account-changes.ts";
import { summarizeAccess } from "./end-access.ts";
import { unbindSingleSignOn } from "./identities.ts";
import { findUserAccounts, stateOf, type UserAccountRow } from "./queries.ts";
import { isSignOnAFactor, refuseUnproven } from "./refuse-unproven.ts";
import * as service from "./users.ts";

/** User management for admins. */
export function userRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly encryptor: Encryptor;
    readonly config: Pick<Config, "baseUrl" | "signInProviders" | "smtp">;
  },
): void {
  const { db, jobs, encryptor, config } = deps;
  const links: service.LinkDependencies = {
    baseUrl: config.baseUrl,
    get mail() {
      return config.smtp === null ? null : { jobs, encryptor };
    },
  };
  /** Runs a change, then wakes the job queue so that its email is sent at once. */
  const change = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const done = await transactWithRetry(db, work);
    if (links.mail !== null) jobs.wake();
    return done;
  };
  const readOne = async (workspaceId: string, userId: string) => {
    const [row] = await findUserAccounts(db.kysely, workspaceId, userId);
    if (row === undefined)
      throw new ProblemError("not_found", `there is no user ${userId} in this workspace`);
    return present(row, await findRules(db.kysely, workspaceId));
  };

  route(api, contract.listUserAccounts, async ({ principal: { workspaceId } }) => {
    const rules = await findRules(db.kysely, workspaceId);
    return { users: (await findUserAccounts(db.kysely, workspaceId)).map((row) => present(row, rules)) };
  });

  route(api, contract.inviteUser, async ({ principal, request, body }) => {
    const { id, link } = await change((tx) =>
      service.inviteUser(tx, actorOf(request), links, {
        email: body.email,
        name: body.name,
        role: body.role ?? "member",
        teamIds: body.team_ids ?? [],
        inviter: inviterOf(request),
      }),
    );
    return { user: await readOne(principal.workspaceId, id), invitation: presentLink(link) };
  });

  route(api, contract.replaceInvitation, async ({ request, params }) =>
    presentLink(
      await change((tx) =>
        service.replaceInvitation(tx, actorOf(request), links, params.user_id, inviterOf(request)),
      ),
    ),
  );

  route(api, contract.updateUser, async ({ principal, request, params, body }) => {
    const revoked = await change((tx) => service.changeUser(tx, actorOf(request), params.user_id, body));
    return {
      user: await readOne(principal.workspaceId, params.user_id),
      revoked_tokens: revoked.tokens,
      disabled_hooks: revoked.hooks,
    };
  });

  route(api, contract.deactivateUser, async ({ principal, request, params }) => {
    const ended = await change((tx) =>
      service.deactivateUser(tx, actorOf(request), params.user_id.toLowerCase()),
    );
    return {
      user: await readOne(principal.workspaceId, params.user_id),
      ended_sessions: ended.sessions,
      revoked_tokens: ended.tokens,
      disabled_hooks: ended.hooks,
      ended_uploads: ended.uploads,
    };
  });

  route(api, contract.getUserAccess, async ({ principal, params }) => {
    await readOne(principal.workspaceId, params.user_id);
    const access = await summarizeAccess(db.kysely, params.user_id);
    return {
      sessions: access.sessions,
      tokens: access.tokens,
      apps: access.apps,
      personal_hooks: access.personalHooks,
      workspace_hooks: access.workspaceHooks,
      unfinished_uploads: access.uploads,
    };
  });

  route(api, contract.reactivateUser, async ({ principal, request, params }) => {
    await change((tx) => service.reactivateUser(tx, actorOf(request), params.user_id));
    return readOne(principal.workspaceId, params.user_id);
  });

  route(api, contract.createPasswordResetLink, async ({ principal, request, params }) => {
    // Otherwise someone who found a token that expires soon could take over the account permanently.
    if (principal.tokenType !== "session" && params.user_id.toLowerCase() === principal.userId)
      throw new ProblemError("forbidden", because("own_link_by_token"));
    return presentLink(
      await change((tx) => service.createResetLink(tx, actorOf(request), links, params.user_id)),
    );
  });

  route(api, contract.unbindSingleSignOn, async ({ principal, request, params }) => {
    if (params.user_id.toLowerCase() === principal.userId)
      await refuseUnproven(db.kysely, principal, config.signInProviders);
    await change((tx) =>
      unbindSingleSignOn(tx, actorOf(request), params.user_id, {
        providers: config.signInProviders,
        mail: mailOf(deps),
      }),
    );
    return { success: true as const };
  });
}

function present(row: UserAccountRow, rules: StoredRules | null) {
  const isFactor =
    row.single_sign_on && isSignOnAFactor(rules, { role: row.role, hasPassword: row.has_password });
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    state: stateOf(row),
    team_ids: row.team_ids,
    single_sign_on: row.single_sign_on,
    has_password: row.has_password,
    has_second_factor: row.has_second_factor,
    has_passkeys: row.has_passkeys,
    can_reset_second_factor: row.has_second_factor || row.has_passkeys || isFactor,
    last_signed_in_datetime: row.last_signed_in_at?.toISOString() ?? null,
    created_datetime: row.created_at.toISOString(),
  };
}

function presentLink(link: service.CreatedLink) {
  return { url: link.url, expires_at: link.expiresAt.toISOString(), mailed: link.mailed };
}

function inviterOf(request: FastifyRequest): service.Inviter {
  const { name, language = null } = request.principal;
  return { name, language: languageOf(request, language) };
}
