import type pg from "pg";
import type { Database } from "../../platform/db/database.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { anchorPruned } from "./anchor.ts";
import { withChainLock } from "./seal.ts";

/** Entries removed in one transaction. */
const batch = 5000;

/**
 * Removes the anchored entries older than a time from the start of each chain, up to the first newer one. Position and
 * hash of the last removed entry are kept, also in the anchor, so that the rest of the chain still verifies.
 * @returns how many entries were removed.
 */
export async function pruneAudit(db: Database, store: ObjectStore, ttlMs: number): Promise<number> {
  const { pool } = db;
  const before = new Date(Date.now() - ttlMs);
  const { rows } = await pool.query<{ workspace_id: string }>("select workspace_id from audit_chains");
  let removed = 0;
  for (const { workspace_id } of rows) {
    for (;;) {
      const count = await withChainLock(pool, (client) => pruneBatch(client, workspace_id, before));
      // Another process is pruning.
      if (count === null) return removed;
      removed += count;
      // After each batch: if this were interrupted and the TTL then changed, the log would seem to be tampered with.
      if (count > 0) await anchorPruned(db, store, workspace_id, ttlMs);
      if (count < batch) break;
    }
  }
  return removed;
}

async function pruneBatch(client: pg.PoolClient, workspaceId: string, before: Date): Promise<number> {
  // Stops at the first newer entry, even if the clock went backwards and an older entry follows it.
  const { rowCount } = await client.query({
    name: "audit_move_pruned_position",
    text: `with oldest as (
        select position, hash, bool_and(occurred_at < $2) over (order by position) as is_old
        from (select position, hash, occurred_at from audit_log
          where workspace_id = $1 and position is not null order by position limit ${batch}) first
      ), last as (
        select position, hash from oldest
        where is_old and position <= (select anchored_position from audit_chains where workspace_id = $1)
        order by position desc limit 1
      )
      update audit_chains c set pruned_position = last.position, pruned_hash = last.hash
      from last where c.workspace_id = $1 and last.position > c.pruned_position`,
    values: [workspaceId, before],
  });
  if (rowCount === 0) return 0;
  const deleted = await client.query({
    name: "audit_prune",
    text: `delete from audit_log l using audit_chains c
      where c.workspace_id = $1 and l.workspace_id = $1 and l.position <= c.pruned_position`,
    values: [workspaceId],
  });
  return deleted.rowCount ?? 0;
}
