import type { DatetimeFilters } from "../../../contract/common.ts";
import type { Executor } from "../../platform/db/database.ts";

/** A registered app. */
export interface ClientRow {
  readonly id: string;
  readonly workspace_id: string;
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
  readonly created_at: Date;
  readonly updated_at: Date;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A client by the id in a request; undefined for an unknown or malformed id. */
export async function findClient(db: Executor, clientId: string): Promise<ClientRow | undefined> {
  if (!uuid.test(clientId)) return undefined;
  return db
    .selectFrom("oauth_clients")
    .selectAll()
    .where("id", "=", clientId.toLowerCase())
    .executeTakeFirst();
}

/** Whether any app has registered this origin. A preflight request does not name the client. */
export async function isAnyClientsOrigin(db: Executor, origin: string): Promise<boolean> {
  const found = await db
    .selectFrom("oauth_clients")
    .select("id")
    .where((eb) => eb(eb.val(origin), "=", eb.fn.any("cors_origins")))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
