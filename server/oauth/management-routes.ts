import type { z } from "zod";
import * as contract from "../../contract/oauth-management.ts";
import { actorOf, recordAudit } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { decodeCursor, encodeCursor, type Position } from "../http/cursor.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import { type Api, route } from "../http/route.ts";
import { type ClientRow, findClient } from "./client-queries.ts";
import {
  clientNotFound,
  createClient,
  deleteClient,
  findAddressFaults,
  lockClient,
  rotateSecret,
  updateClient,
} from "./clients.ts";
import { revokeGrant } from "./families.ts";
import { findGrantOwner, type GrantRow, isUserOf, listClients, listGrants } from "./management-queries.ts";

const cursors = { clients: "oauth-clients", grants: "oauth-grants" } as const;

/** Apps as admins register them, and as people see which ones they have let in. */
export function oauthManagementRoutes(
  api: Api,
  { db, config }: { readonly db: Database; readonly config: Pick<Config, "pageSize"> },
): void {
  const pageAfter = (cursor: string | undefined, name: string) => ({
    after: cursor === undefined ? null : decodeCursor(name, cursor),
    // One more than the page shows whether there is a next one.
    limit: config.pageSize + 1,
  });
  const cut = <T extends { readonly id: string; readonly created_at: Date }>(rows: T[], name: string) => {
    const page = rows.slice(0, config.pageSize);
    const last = page.at(-1);
    const next: Position | null =
      rows.length > page.length && last ? { at: last.created_at, id: last.id } : null;
    return { page, cursor: next === null ? null : encodeCursor(name, next) };
  };

  route(api, contract.listOAuthClients, async ({ principal, query }) => {
    const rows = await listClients(
      db.kysely,
      principal.workspaceId,
      pageAfter(query.cursor, cursors.clients),
    );
    const { page, cursor } = cut(rows, cursors.clients);
    return { clients: page.map(presentClient), cursor };
  });

  route(api, contract.createOAuthClient, async ({ body, request }) => {
    const isPublic = body.public ?? false;
    refuseFaults(body, isPublic);
    const { client, secret } = await db.kysely.transaction().execute((tx) =>
      createClient(tx, actorOf(request), {
        name: body.name,
        redirectUris: body.redirect_uris,
        corsOrigins: body.cors_origins ?? [],
        isPublic,
        isLegacy: body.legacy ?? false,
      }),
    );
    return { ...presentClient(client), client_secret: secret };
  });

  route(api, contract.getOAuthClient, async ({ principal, params }) => {
    const client = await findClient(db.kysely, params.client_id);
    if (client?.workspace_id !== principal.workspaceId) throw clientNotFound(params.client_id);
    return presentClient(client);
  });

  route(api, contract.updateOAuthClient, ({ principal, params, body, request }) =>
    db.kysely.transaction().execute(async (tx) => {
      const client = await lockClient(tx, principal.workspaceId, params.client_id);
      refuseFaults(body, client.is_public);
      return presentClient(await updateClient(tx, actorOf(request), client.id, body));
    }),
  );

  route(api, contract.rotateOAuthClientSecret, ({ principal, params, body, request }) =>
    db.kysely.transaction().execute(async (tx) => {
      const before = await lockClient(tx, principal.workspaceId, params.client_id);
      const { client, secret } = await rotateSecret(tx, actorOf(request), before, body.overlap_sec);
      return { ...presentClient(client), client_secret: secret };
    }),
  );

  route(api, contract.deleteOAuthClient, async ({ params, request }) => {
    await db.kysely.transaction().execute((tx) => deleteClient(tx, actorOf(request), params.client_id));
    return { success: true } as const;
  });

  route(api, contract.listOAuthGrants, async ({ principal, query }) => {
    const userId = query.user_id?.toLowerCase() ?? principal.userId;
    if (userId !== principal.userId) {
      if (principal.role !== "admin")
        throw new ProblemError("forbidden", "only admins see what other people have let in");
      if (!(await isUserOf(db.kysely, principal.workspaceId, userId)))
        throw new ProblemError("not_found", `there is no user ${userId} in this workspace`);
    }
    const rows = await listGrants(db.kysely, userId, pageAfter(query.cursor, cursors.grants));
    const { page, cursor } = cut(rows, cursors.grants);
    return { grants: page.map(presentGrant), cursor };
  });

  route(api, contract.revokeOAuthGrant, ({ principal, params, request }) =>
    db.kysely.transaction().execute(async (tx) => {
      const found = await findGrantOwner(tx, params.grant_id);
      const isOwn = found?.user_id === principal.userId;
      const isAdmins = principal.role === "admin" && found?.workspace_id === principal.workspaceId;
      if (found === undefined || !(isOwn || isAdmins))
        throw new ProblemError("not_found", `there is no such granted app ${params.grant_id}`);
      await revokeGrant(tx, params.grant_id);
      await recordAudit(tx, actorOf(request), {
        action: "oauth_access_revoked",
        subject: { type: "oauth_client", id: found.client_id },
        details: { grant_id: params.grant_id, user_id: found.user_id },
      });
      return { success: true } as const;
    }),
  );
}

function refuseFaults(body: Parameters<typeof findAddressFaults>[0], isPublic: boolean): void {
  const faults = findAddressFaults(body, isPublic);
  if (faults.length > 0) throw invalidInput(faults);
}

/** A client as the management API and the command line show it: never its secret. */
export function presentClient(client: ClientRow): z.input<typeof contract.OAuthClient> {
  const { previous_secret_until: until } = client;
  return {
    client_id: client.id,
    name: client.name,
    public: client.is_public,
    legacy: client.is_legacy,
    redirect_uris: client.redirect_uris,
    cors_origins: client.cors_origins,
    previous_secret_until: until !== null && until > new Date() ? until.toISOString() : null,
    created_datetime: client.created_at.toISOString(),
    updated_datetime: client.updated_at.toISOString(),
  };
}

function presentGrant(row: GrantRow): z.input<typeof contract.OAuthGrant> {
  return {
    id: row.id,
    user_id: row.user_id,
    client_id: row.client_id,
    client_name: row.client_name,
    created_datetime: row.created_at.toISOString(),
    last_used_datetime: row.last_used_at.toISOString(),
    sign_ins: row.families,
  };
}
