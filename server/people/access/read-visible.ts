import type { Principal } from "../../platform/auth/principal.ts";
import { type ReadSources, readFor } from "../../platform/db/database.ts";
import type { Queryable } from "../../platform/db/replica.ts";

/**
 * Reads recordings from the replica, if there is one. A page with a recording that the principal can no longer see is read
 * again from the primary, because access ends at once.
 * @param idsOf the recordings in what was read.
 */
export async function readVisible<T>(
  db: ReadSources,
  principal: Principal,
  read: (source: Queryable) => Promise<T>,
  idsOf: (result: T) => readonly string[],
): Promise<T> {
  let isReplica = false;
  const result = await readFor(db, principal, (source) => {
    isReplica = source !== db.pool;
    return read(source);
  });
  return !isReplica || (await seesAll(db.pool, principal, idsOf(result))) ? result : read(db.pool);
}

async function seesAll(source: Queryable, { sees }: Principal, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return true;
  const { rows } = await source.query<{ lost: boolean }>({
    name: "sees_all_recordings",
    text: `select exists (select 1 from unnest($1::uuid[]) wanted (id) where not exists (
        select 1 from recording_grants g where g.recording_id = wanted.id and g.principal_id = any($2::uuid[]))) as lost`,
    values: [ids, sees],
  });
  return rows[0]?.lost === false;
}
