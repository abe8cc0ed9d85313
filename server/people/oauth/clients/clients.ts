import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { because } from "../../../../contract/causes/causes.ts";
import type { Compatibility, DatetimeFilters } from "../../../../contract/common.ts";
import type { Violation } from "../../../../contract/errors.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { hashToken } from "../../accounts/tokens/access-tokens.ts";
import type { ClientRow } from "./queries.ts";
import { corsOriginProblem, redirectUriProblem } from "./redirect-uri.ts";
import { generateSecret } from "./secrets.ts";

/** The registration data of a client. */
export interface ClientInput {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly isPublic: boolean;
  readonly isLegacy: boolean;
  readonly datetimeFilters: DatetimeFilters;
  readonly compatibility: Compatibility;
}

/** A client and its secret, which is not stored; null for a public client. */
export interface ClientWithSecret {
  readonly client: ClientRow;
  readonly secret: string | null;
}

/** All redirect URIs and origins that can't be registered, with their JSON pointers. */
export function findUriViolations(
  input: { redirect_uris?: readonly string[] | undefined; cors_origins?: readonly string[] | undefined },
  rules: { readonly isPublic: boolean; readonly schemes: readonly string[] },
): Violation[] {
  const check = (name: string, values: readonly string[], problemOf: (value: string) => string | null) =>
    values.flatMap((value, index) => {
      const detail = problemOf(value);
      return detail === null ? [] : [{ pointer: `/${name}/${index}`, detail }];
    });
  return [
    ...check("redirect_uris", input.redirect_uris ?? [], (uri) => redirectUriProblem(uri, rules)),
    ...check("cors_origins", input.cors_origins ?? [], corsOriginProblem),
  ];
}

/** Registers an app. The caller has validated its URIs. */
export async function createClient(tx: Tx, actor: AuditActor, input: ClientInput): Promise<ClientWithSecret> {
  const secret = input.isPublic ? null : generateSecret("client");
  const client = await tx
    .insertInto("oauth_clients")
    .values({
      id: randomUUIDv7(),
      workspace_id: actor.workspaceId,
      name: input.name,
      is_public: input.isPublic,
      is_legacy: input.isLegacy,
      secret_hash: secret === null ? null : hashToken(secret),
      redirect_uris: unique(input.redirectUris),
      cors_origins: unique(input.corsOrigins),
      datetime_filters: input.datetimeFilters,
      compatibility: input.compatibility,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(tx, actor, {
    action: "oauth_client_created",
    subject: { type: "oauth_client", id: client.id },
    details: { name: client.name, public: client.is_public, legacy: client.is_legacy },
  });
  return { client, secret };
}

/** A client of the workspace, locked against changes. @throws ProblemError `not_found`. */
export async function lockClient(tx: Tx, workspaceId: string, clientId: string): Promise<ClientRow> {
  const client = await tx
    .selectFrom("oauth_clients")
    .selectAll()
    .where("id", "=", clientId)
    .where("workspace_id", "=", workspaceId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (client === undefined) throw clientNotFound(clientId);
  return client;
}

export function clientNotFound(clientId: string): ProblemError {
  return new ProblemError("not_found", `there is no app ${clientId} in this workspace`);
}

/** Updates the given fields. The caller has validated the URIs. */
export async function updateClient(
  tx: Tx,
  actor: AuditActor,
  clientId: string,
  changes: {
    name?: string | undefined;
    redirect_uris?: readonly string[] | undefined;
    cors_origins?: readonly string[] | undefined;
    datetime_filters?: DatetimeFilters | undefined;
    compatibility?: Compatibility | undefined;
  },
): Promise<ClientRow> {
  const client = await tx
    .updateTable("oauth_clients")
    .set({
      updated_at: sql`clock_timestamp()`,
      ...(changes.name === undefined ? {} : { name: changes.name }),
      ...(changes.redirect_uris === undefined ? {} : { redirect_uris: unique(changes.redirect_uris) }),
      ...(changes.cors_origins === undefined ? {} : { cors_origins: unique(changes.cors_origins) }),
      ...(changes.datetime_filters === undefined ? {} : { datetime_filters: changes.datetime_filters }),
      ...(changes.compatibility === undefined ? {} : { compatibility: changes.compatibility }),
    })
    .where("id", "=", clientId)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(tx, actor, {
    action: "oauth_client_changed",
    subject: { type: "oauth_client", id: clientId },
    details: {
      changed: Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [name])),
    },
  });
  return client;
}

/**
 * Replaces the secret of a confidential client.
 * @param overlapSec how long the old secret stays valid.
 * @throws ProblemError `wrong_state` for a public client.
 */
export async function rotateSecret(
  tx: Tx,
  actor: AuditActor,
  before: ClientRow,
  overlapSec: number,
): Promise<ClientWithSecret> {
  if (before.is_public)
    throw new ProblemError("wrong_state", because("public_app_without_secret", { app: before.name }));
  const secret = generateSecret("client");
  const keepsOld = overlapSec > 0;
  const client = await tx
    .updateTable("oauth_clients")
    .set({
      updated_at: sql`clock_timestamp()`,
      secret_hash: hashToken(secret),
      previous_secret_hash: keepsOld ? before.secret_hash : null,
      previous_secret_until: keepsOld
        ? sql<Date>`clock_timestamp() + make_interval(secs => ${overlapSec})`
        : null,
    })
    .where("id", "=", before.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(tx, actor, {
    action: "oauth_client_changed",
    subject: { type: "oauth_client", id: client.id },
    details: { changed: ["client_secret"], overlap_sec: overlapSec },
  });
  return { client, secret };
}

/** Removes a client; its grants and tokens end with it. @throws ProblemError `not_found`. */
export async function deleteClient(tx: Tx, actor: AuditActor, clientId: string): Promise<void> {
  const client = await tx
    .deleteFrom("oauth_clients")
    .where("id", "=", clientId)
    .where("workspace_id", "=", actor.workspaceId)
    .returning(["id", "name"])
    .executeTakeFirst();
  if (client === undefined) throw clientNotFound(clientId);
  await recordAudit(tx, actor, {
    action: "oauth_client_deleted",
    subject: { type: "oauth_client", id: client.id },
    details: { name: client.name },
  });
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
