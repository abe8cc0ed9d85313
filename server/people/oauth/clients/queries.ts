import { sql } from "kysely";
import type { Compatibility, DatetimeFilters } from "../../../../contract/common.ts";
import type { Executor } from "../../../platform/db/database.ts";
import { isDocumentUrl } from "./self-registered/document-url.ts";

/** A registered app. */
export interface ClientRow {
  readonly id: string;
  /** Null for an app that registered itself, which users of every workspace may authorize. */
  readonly workspace_id: string | null;
  readonly name: string;
  readonly is_public: boolean;
  readonly is_legacy: boolean;
  readonly secret_hash: Buffer | null;
  readonly previous_secret_hash: Buffer | null;
  readonly previous_secret_until: Date | null;
  readonly redirect_uris: string[];
  readonly cors_origins: string[];
  /** Null: as the server is set. */
  readonly datetime_filters: DatetimeFilters | null;
  readonly compatibility: Compatibility | null;
  /** URL of the document in which the app describes itself, which is its client_id. */
  readonly metadata_url: string | null;
  readonly metadata_expires_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A client by the id in a request, a UUID or the URL of its document; undefined for an unknown or malformed id. A document's
 * client has no UUID for apps: its document would not be checked again.
 */
export async function findClient(db: Executor, clientId: string): Promise<ClientRow | undefined> {
  const query = db.selectFrom("oauth_clients").selectAll();
  if (uuid.test(clientId))
    return query
      .where("id", "=", clientId.toLowerCase())
      .where("metadata_url", "is", null)
      .executeTakeFirst();
  return isDocumentUrl(clientId) ? query.where("metadata_url", "=", clientId).executeTakeFirst() : undefined;
}

/** Whether an app registered itself, instead of an admin for a workspace. */
export function isSelfRegistered(client: Pick<ClientRow, "workspace_id">): boolean {
  return client.workspace_id === null;
}

/** The client_id that the app uses. */
export function clientIdOf({ id, metadata_url }: Pick<ClientRow, "id" | "metadata_url">): string {
  return metadata_url ?? id;
}

/**
 * Whether an app has registered this origin that an admin registered or a user has authorized. Anyone can register an app,
 * so the origins of the others have no rights.
 */
export async function isTrustedOrigin(db: Executor, origin: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from oauth_clients c
    where c.cors_origins @> array[${origin}]
      and (c.workspace_id is not null or exists (select 1 from oauth_grants g where g.client_id = c.id))
    limit 1`.execute(db);
  return rows.length > 0;
}
