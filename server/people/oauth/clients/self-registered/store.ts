import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { Database, Executor, Tx } from "../../../../platform/db/database.ts";
import { hashToken } from "../../../accounts/tokens/access-tokens.ts";
import type { ClientWithSecret } from "../clients.ts";
import type { ClientRow } from "../queries.ts";
import { generateSecret } from "../secrets.ts";
import { type AppMetadata, originsOf } from "./metadata.ts";

/** How long a registration that no user has authorized is kept. */
const unusedDays = 30;

/** Registrations that no user has authorized. The oldest are deleted beyond that, so that nobody can use them up. */
const maxUnused = 10_000;

/** Stores an app that registered itself (RFC 7591). */
export async function registerClient(db: Database, metadata: AppMetadata): Promise<ClientWithSecret> {
  const secret = metadata.authMethod === "none" ? null : generateSecret("client");
  const client = await db.kysely
    .insertInto("oauth_clients")
    .values({
      id: randomUUIDv7(),
      workspace_id: null,
      is_public: secret === null,
      is_legacy: false,
      secret_hash: secret === null ? null : hashToken(secret),
      ...columnsOf(metadata),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await deleteSurplus(db.kysely);
  return { client, secret };
}

/** Stores what an app's document says, valid until `expiresAt`. The client keeps its grants. */
export async function saveDocument(
  db: Database,
  url: string,
  metadata: AppMetadata,
  expiresAt: Date,
): Promise<ClientRow> {
  const columns = { ...columnsOf(metadata), metadata_expires_at: expiresAt };
  const client = await db.kysely
    .insertInto("oauth_clients")
    .values({
      id: randomUUIDv7(),
      workspace_id: null,
      is_public: true,
      is_legacy: false,
      metadata_url: url,
      ...columns,
    })
    .onConflict((conflict) =>
      conflict
        .column("metadata_url")
        .where("metadata_url", "is not", null)
        .doUpdateSet({ ...columns, updated_at: sql`clock_timestamp()` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  await deleteSurplus(db.kysely);
  return client;
}

function columnsOf({ name, redirectUris }: AppMetadata) {
  return {
    name,
    redirect_uris: [...new Set(redirectUris)],
    cors_origins: originsOf(redirectUris),
  };
}

async function deleteSurplus(db: Executor): Promise<void> {
  await sql`
    delete from oauth_clients where id in (
      select c.id from oauth_clients c
      where c.workspace_id is null and not exists (select 1 from oauth_grants g where g.client_id = c.id)
      order by c.created_at desc, c.id desc offset ${maxUnused}
      for update skip locked)`.execute(db);
}

/** Deletes a self-registered app; its grants and tokens end with it. */
export async function deleteSelfRegistered(tx: Tx, clientId: string): Promise<void> {
  await tx.deleteFrom("oauth_clients").where("id", "=", clientId).where("workspace_id", "is", null).execute();
}

/** Deletes self-registered apps that no user has authorized for 30 days; apps register again when they need to. */
export async function deleteUnusedClients(db: Executor): Promise<void> {
  await sql`
    delete from oauth_clients where id in (
      select c.id from oauth_clients c
      where c.workspace_id is null and c.updated_at < now() - make_interval(days => ${unusedDays})
        and not exists (select 1 from oauth_grants g where g.client_id = c.id)
      for update skip locked)`.execute(db);
}
