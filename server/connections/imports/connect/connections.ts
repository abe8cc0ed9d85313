import { randomUUIDv7 } from "node:crypto";
import { type Selectable, sql } from "kysely";
import type { z } from "zod";
import type { createConnection as operation } from "../../../../contract/accounts/connections.ts";
import { isUnencrypted } from "../../../../contract/accounts/redirect-target.ts";
import type { Violation } from "../../../../contract/errors.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Executor } from "../../../platform/db/database.ts";
import type { Connections } from "../../../platform/db/types.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { enforceQuota } from "../../../platform/http/limits/quota.ts";
import { checkHookUrl } from "../../../platform/outbound/target.ts";
import { normalBaseUrl } from "../sources/base-url.ts";
import { attendee } from "./attendee.ts";
import type { ConnectedService, ConnectionKind, ConnectionSecrets } from "./service.ts";
import { vexa } from "./vexa.ts";
import { zoom } from "./zoom.ts";

export type ConnectionRow = Selectable<Connections>;
type Input = z.output<(typeof operation)["body"]>;

const maxConnections = 20;

const services: Readonly<Record<ConnectionKind, ConnectedService>> = { zoom, attendee, vexa };

export const serviceOf = ({ kind }: Pick<ConnectionRow, "kind">): ConnectedService => services[kind];

/** The secrets of a connection. @throws Error when they can't be decrypted. */
export function readSecrets(
  encryptor: Encryptor,
  { secrets }: Pick<ConnectionRow, "secrets">,
): ConnectionSecrets {
  return JSON.parse(encryptor.decrypt(secrets)) as ConnectionSecrets;
}

/** Names the service in `connection_meetings`: two connections to it import a meeting once. */
export const sourceOf = ({ kind, base_url }: Pick<ConnectionRow, "kind" | "base_url">): string =>
  `${kind} ${base_url}`;

/** The hosts that a connection may request: that of its URL with subdomains, and those of its files. */
export function allowedHosts({
  base_url,
  media_hosts,
}: Pick<ConnectionRow, "base_url" | "media_hosts">): string[] {
  const { hostname } = new URL(base_url);
  // A host name that ends in one's IP address is no part of it.
  const isName = /[a-z]$/i.test(hostname);
  return [hostname, ...(isName ? [`.${hostname}`] : []), ...media_hosts];
}

/** Creates a connection. @throws ProblemError `invalid_input`, `quota_exceeded`. */
export async function createConnection(
  { db, encryptor }: { readonly db: Database; readonly encryptor: Encryptor },
  { workspaceId, userId }: Pick<Principal, "workspaceId" | "userId">,
  actor: AuditActor,
  input: Input,
): Promise<ConnectionRow> {
  const violations = findViolations(input);
  if (violations.length > 0) throw invalidInput(violations);
  const {
    kind,
    name,
    media_hosts = [],
    webhook_secret,
    api_key,
    account_id,
    client_id,
    client_secret,
  } = input;
  const secrets: ConnectionSecrets = { webhook_secret, api_key, account_id, client_id, client_secret };
  return db.kysely.transaction().execute(async (tx) => {
    await enforceQuota(tx, {
      ...{ name: "connections", owner: workspaceId, limit: maxConnections },
      count: async () => (await listConnections(tx, workspaceId)).length,
      refusal: "connection_quota",
    });
    const row = await tx
      .insertInto("connections")
      .values({
        id: randomUUIDv7(),
        workspace_id: workspaceId,
        kind,
        name,
        base_url: normalBaseUrl(baseUrlOf(input)),
        media_hosts,
        secrets: encryptor.encrypt(JSON.stringify(secrets)),
        created_by: userId,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await recordAudit(tx, actor, {
      action: "connection_created",
      subject: { type: "connection", id: row.id },
      details: { kind, base_url: row.base_url, media_hosts },
    });
    return row;
  });
}

const baseUrlOf = ({ base_url }: Input): string => base_url ?? "https://zoom.us";

function findViolations(input: Input): Violation[] {
  const violations: Violation[] = [];
  const { kind, base_url, api_key } = input;
  const require = (name: "base_url" | "api_key", value: string | undefined): void => {
    if (value === undefined) violations.push({ pointer: `/${name}`, detail: `is required for ${kind}` });
  };
  if (kind !== "zoom") {
    require("base_url", base_url);
    require("api_key", api_key);
  }
  const url = baseUrlOf(input);
  const problem = checkHookUrl(url, { httpsOnly: false });
  if (problem !== null) return [...violations, { pointer: "/base_url", detail: problem }];
  if (isUnencrypted(url) && input.allow_http !== true)
    violations.push({
      pointer: "/base_url",
      detail: "must be an https URL, unless allow_http is set: credentials would be sent unencrypted",
    });
  const oauth = ["account_id", "client_id", "client_secret"] as const;
  if (kind === "zoom" && oauth.some((name) => input[name] !== undefined))
    for (const name of oauth.filter((one) => input[one] === undefined))
      violations.push({
        pointer: `/${name}`,
        detail: "is required together with the other OAuth credentials",
      });
  if (kind === "attendee" && !/^[A-Za-z0-9+/]+={0,2}$/.test(input.webhook_secret))
    violations.push({ pointer: "/webhook_secret", detail: "must be Base64, as Attendee shows it" });
  return violations;
}

/** Deletes a connection with its events. @throws ProblemError `not_found`. */
export async function deleteConnection(
  db: Database,
  workspaceId: string,
  actor: AuditActor,
  connectionId: string,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const row = await tx
      .deleteFrom("connections")
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", connectionId)
      .returning(["id", "kind", "base_url"])
      .executeTakeFirst();
    if (row === undefined) throw connectionNotFound(connectionId);
    await recordAudit(tx, actor, {
      action: "connection_deleted",
      subject: { type: "connection", id: row.id },
      details: { kind: row.kind, base_url: row.base_url },
    });
  });
}

/** The connections of a workspace, oldest first. */
export async function listConnections(db: Executor, workspaceId: string): Promise<ConnectionRow[]> {
  return db
    .selectFrom("connections")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("id")
    .execute();
}

/** @throws ProblemError `not_found` when the workspace has no such connection. */
export async function findOwnConnection(
  db: Executor,
  workspaceId: string,
  connectionId: string,
): Promise<ConnectionRow> {
  const row = (await findConnection(db, connectionId)) ?? null;
  if (row?.workspace_id !== workspaceId) throw connectionNotFound(connectionId);
  return row;
}

/** A connection of any workspace, for the webhooks that arrive for it. */
export async function findConnection(db: Executor, connectionId: string): Promise<ConnectionRow | undefined> {
  return db.selectFrom("connections").selectAll().where("id", "=", connectionId).executeTakeFirst();
}

/** Notes that a webhook with a valid signature has arrived, at most once a minute. */
export async function noteReceived(db: Executor, { id, received_at }: ConnectionRow): Promise<void> {
  if (received_at !== null && Date.now() - received_at.getTime() < 60_000) return;
  await db
    .updateTable("connections")
    .set({ received_at: sql<Date>`clock_timestamp()` })
    .where("id", "=", id)
    .execute();
}

function connectionNotFound(id: string): ProblemError {
  return new ProblemError(
    "not_found",
    `there is no connection ${id} in this workspace; see List Connections`,
  );
}
