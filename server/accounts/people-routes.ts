import * as contract from "../../contract/account-people.ts";
import { actorOf } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database, Tx } from "../db/database.ts";
import { transactWithRetry } from "../db/retry.ts";
import { ProblemError } from "../http/problem.ts";
import { type Api, route } from "../http/route.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Sealer } from "../links/sealer.ts";
import { unbindSingleSignOn } from "./identities.ts";
import * as service from "./people.ts";
import { findPeople, type PersonRow, stateOf } from "./people-queries.ts";

/** What admins do with people. */
export function peopleRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly sealer: Sealer;
    readonly config: Pick<Config, "baseUrl" | "smtp">;
  },
): void {
  const { db, jobs, sealer, config } = deps;
  const links: service.LinkDependencies = {
    baseUrl: config.baseUrl,
    mail: config.smtp === null ? null : { jobs, sealer },
  };
  /** Runs a change, and lets a mail of it go at once. */
  const change = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const done = await transactWithRetry(db, work);
    if (links.mail !== null) jobs.wake();
    return done;
  };
  const readOne = async (workspaceId: string, userId: string) => {
    const [row] = await findPeople(db.kysely, workspaceId, userId);
    if (row === undefined)
      throw new ProblemError("not_found", `there is no user ${userId} in this workspace`);
    return present(row);
  };

  route(api, contract.listPeople, async ({ principal }) => ({
    users: (await findPeople(db.kysely, principal.workspaceId)).map(present),
  }));

  route(api, contract.inviteUser, async ({ principal, request, body }) => {
    const { id, link } = await change((tx) =>
      service.inviteUser(tx, actorOf(request), links, {
        email: body.email,
        name: body.name,
        role: body.role ?? "member",
        teamIds: body.team_ids ?? [],
        inviter: principal.name,
      }),
    );
    return { user: await readOne(principal.workspaceId, id), invitation: presentLink(link) };
  });

  route(api, contract.renewInvitation, async ({ principal, request, params }) =>
    presentLink(
      await change((tx) =>
        service.renewInvitation(tx, actorOf(request), links, params.user_id, principal.name),
      ),
    ),
  );

  route(api, contract.updateUser, async ({ principal, request, params, body }) => {
    const revoked = await change((tx) => service.changeUser(tx, actorOf(request), params.user_id, body));
    return { user: await readOne(principal.workspaceId, params.user_id), revoked_tokens: revoked };
  });

  route(api, contract.deactivateUser, async ({ principal, request, params }) => {
    const ended = await change((tx) => service.deactivateUser(tx, actorOf(request), params.user_id));
    return {
      user: await readOne(principal.workspaceId, params.user_id),
      ended_sessions: ended.sessions,
      revoked_tokens: ended.tokens,
    };
  });

  route(api, contract.reactivateUser, async ({ principal, request, params }) => {
    await change((tx) => service.reactivateUser(tx, actorOf(request), params.user_id));
    return readOne(principal.workspaceId, params.user_id);
  });

  route(api, contract.createPasswordResetLink, async ({ principal, request, params }) => {
    // Or who has found a token that soon expires would have the account for ever.
    if (principal.tokenType !== "session" && params.user_id.toLowerCase() === principal.userId)
      throw new ProblemError(
        "forbidden",
        "a token makes no link for the account it belongs to; sign in, or ask another admin",
      );
    return presentLink(
      await change((tx) => service.makeResetLink(tx, actorOf(request), links, params.user_id)),
    );
  });

  route(api, contract.unbindSingleSignOn, async ({ request, params }) => {
    await change((tx) => unbindSingleSignOn(tx, actorOf(request), params.user_id));
    return { success: true as const };
  });
}

function present(row: PersonRow) {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    state: stateOf(row),
    team_ids: row.team_ids,
    single_sign_on: row.single_sign_on,
    has_password: row.has_password,
    last_signed_in_datetime: row.last_signed_in_at?.toISOString() ?? null,
    created_datetime: row.created_at.toISOString(),
  };
}

function presentLink(link: service.MadeLink) {
  return { url: link.url, expires_at: link.expiresAt.toISOString(), mailed: link.mailed };
}
