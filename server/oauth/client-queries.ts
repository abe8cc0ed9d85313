import type { Executor } from "../db/database.ts";

/** An app as it is registered. */
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
  readonly created_at: Date;
  readonly updated_at: Date;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A client by its id, as a request names it; undefined for an unknown one, and for what can be none. */
export async function findClient(db: Executor, clientId: string): Promise<ClientRow | undefined> {
  if (!uuid.test(clientId)) return undefined;
  return db
    .selectFrom("oauth_clients")
    .selectAll()
    .where("id", "=", clientId.toLowerCase())
    .executeTakeFirst();
}

/** Whether any app has pages of this origin: all that is known of a preflight request. */
export async function isAnyClientsOrigin(db: Executor, origin: string): Promise<boolean> {
  const found = await db
    .selectFrom("oauth_clients")
    .select("id")
    .where((eb) => eb(eb.val(origin), "=", eb.fn.any("cors_origins")))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
