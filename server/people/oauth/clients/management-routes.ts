import type { z } from "zod";
import * as contract from "../../../../contract/accounts/oauth-management.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { CompatibilityDefaults, Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { readPage, timeCursor } from "../../../platform/http/page.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import {
  clientNotFound,
  createClient,
  deleteClient,
  findUriViolations,
  lockClient,
  rotateSecret,
  updateClient,
} from "./clients.ts";
import { lockManagedGrant, revokeManagedGrant, updateManagedGrant } from "./grants.ts";
import {
  type GrantOwner,
  type GrantRow,
  getGrant,
  isUserOf,
  listClients,
  listGrants,
} from "./management-queries.ts";
import { type ClientRow, findClient } from "./queries.ts";

const clientCursor = timeCursor("oauth-clients");
const grantCursor = timeCursor("oauth-grants");

/** App registrations for admins, and the apps that users have authorized. */
export function oauthManagementRoutes(
  api: Api,
  {
    db,
    config,
  }: {
    readonly db: Database;
    readonly config: Pick<Config, "pageSize" | "oauthRedirectSchemes"> & CompatibilityDefaults;
  },
): void {
  const present = (client: ClientRow) => presentClient(client, config);
  const refuseInvalidUris = (body: Parameters<typeof findUriViolations>[0], isPublic: boolean): void => {
    const violations = findUriViolations(body, { isPublic, schemes: config.oauthRedirectSchemes });
    if (violations.length > 0) throw invalidInput(violations);
  };

  route(api, contract.listOAuthClients, async ({ principal, query }) => {
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: clientCursor,
      fetch: (page) => listClients(db.kysely, principal.workspaceId, page),
      positionOf: ({ created_at: at, id }) => ({ at, id }),
    });
    return { clients: rows.map(present), cursor };
  });

  route(api, contract.createOAuthClient, async ({ body, request }) => {
    const isPublic = body.public ?? false;
    refuseInvalidUris(body, isPublic);
    const { client, secret } = await db.kysely.transaction().execute((tx) =>
      createClient(tx, actorOf(request), {
        name: body.name,
        redirectUris: body.redirect_uris,
        corsOrigins: body.cors_origins ?? [],
        isPublic,
        isLegacy: body.legacy ?? false,
        datetimeFilters: body.datetime_filters ?? config.datetimeFilters,
        compatibility: body.compatibility ?? config.compatibility,
      }),
    );
    return { ...present(client), client_secret: secret };
  });

  route(api, contract.getOAuthClient, async ({ principal, params }) => {
    const client = await findClient(db.kysely, params.client_id);
    if (client?.workspace_id !== principal.workspaceId) throw clientNotFound(params.client_id);
    return present(client);
  });

  route(api, contract.updateOAuthClient, ({ principal, params, body, request }) =>
    db.kysely.transaction().execute(async (tx) => {
      const client = await lockClient(tx, principal.workspaceId, params.client_id);
      refuseInvalidUris(body, client.is_public);
      return present(await updateClient(tx, actorOf(request), client.id, body));
    }),
  );

  route(api, contract.rotateOAuthClientSecret, ({ principal, params, body, request }) =>
    db.kysely.transaction().execute(async (tx) => {
      const before = await lockClient(tx, principal.workspaceId, params.client_id);
      const { client, secret } = await rotateSecret(tx, actorOf(request), before, body.overlap_sec);
      return { ...present(client), client_secret: secret };
    }),
  );

  route(api, contract.deleteOAuthClient, async ({ params, request }) => {
    await db.kysely.transaction().execute((tx) => deleteClient(tx, actorOf(request), params.client_id));
    return { success: true } as const;
  });

  route(api, contract.listOAuthGrants, async ({ principal, query }) => {
    const userId = query.user_id?.toLowerCase() ?? principal.userId;
    const isOfAll = query.user_id === undefined && query.of === "workspace";
    if (userId !== principal.userId || isOfAll) {
      if (principal.role !== "admin")
        throw new ProblemError("forbidden", "only admins can list the authorized apps of other users");
      if (!(await isUserOf(db.kysely, principal.workspaceId, userId)))
        throw new ProblemError("not_found", `there is no user ${userId} in this workspace`);
    }
    const { workspaceId } = principal;
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: grantCursor,
      fetch: (page) => listGrants(db.kysely, isOfAll ? { workspaceId } : { userId }, page),
      positionOf: ({ created_at: at, id }) => ({ at, id }),
    });
    return { grants: rows.map((row) => presentGrant(row, config)), cursor };
  });

  route(api, contract.updateOAuthGrant, ({ principal, params, body, request }) =>
    db.kysely.transaction().execute(async (tx) => {
      const grant = await lockManagedGrant(tx, managedBy(principal), params.grant_id);
      await updateManagedGrant(tx, actorOf(request), grant, body);
      return presentGrant(await getGrant(tx, grant.id), config);
    }),
  );

  route(api, contract.revokeOAuthGrant, ({ principal, params, request }) =>
    db.kysely.transaction().execute(async (tx) => {
      const grant = await lockManagedGrant(tx, managedBy(principal), params.grant_id);
      await revokeManagedGrant(tx, actorOf(request), grant);
      return { success: true } as const;
    }),
  );
}

/** Whose grants a caller may change and revoke. */
function managedBy({ role, userId, workspaceId }: Principal): GrantOwner {
  return role === "admin" ? { workspaceId } : { userId };
}

/** A client as the management API and the command line show it, without its secret. */
export function presentClient(
  client: ClientRow,
  setting: CompatibilityDefaults,
): z.input<typeof contract.OAuthClient> {
  const { previous_secret_until: until } = client;
  return {
    client_id: client.id,
    name: client.name,
    public: client.is_public,
    legacy: client.is_legacy,
    redirect_uris: client.redirect_uris,
    cors_origins: client.cors_origins,
    datetime_filters: client.datetime_filters ?? setting.datetimeFilters,
    compatibility: client.compatibility ?? setting.compatibility,
    previous_secret_until: until !== null && until > new Date() ? until.toISOString() : null,
    created_datetime: client.created_at.toISOString(),
    updated_datetime: client.updated_at.toISOString(),
  };
}

/** A grant as the management API and the command line show it. */
export function presentGrant(
  row: GrantRow,
  setting: CompatibilityDefaults,
): z.input<typeof contract.OAuthGrant> {
  return {
    id: row.id,
    user_id: row.user_id,
    client_id: row.client_id,
    client_name: row.client_name,
    self_registered: row.self_registered,
    client_metadata_url: row.metadata_url,
    redirect_uris: row.redirect_uris,
    created_datetime: row.created_at.toISOString(),
    last_used_datetime: row.last_used_at.toISOString(),
    sign_ins: row.families,
    datetime_filters: row.datetime_filters ?? setting.datetimeFilters,
    compatibility: row.compatibility ?? setting.compatibility,
  };
}
