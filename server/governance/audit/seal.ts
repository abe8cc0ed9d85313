import type pg from "pg";
import type { Database } from "../../platform/db/database.ts";
import { type ChainEntry, chainColumns, genesis, hashEntry } from "./chain.ts";

/** Key of the advisory lock: an arbitrary constant that every process shares. */
export const chainLock = 7_271_539_017;

/** Entries sealed in one transaction. */
const batch = 1000;

interface Head {
  position: number;
  hash: Buffer;
}

/**
 * Adds all committed entries that are not sealed yet to the chain of their workspace. Only one process does this at a time.
 * Unsealed entries are found by their null position, not by an id cursor, so that an entry whose transaction commits late
 * is not skipped.
 * @returns how many entries were sealed; null when another process is sealing.
 */
export async function sealAudit({ pool }: Pick<Database, "pool">): Promise<number | null> {
  let sealed = 0;
  for (;;) {
    const count = await withChainLock(pool, sealBatch);
    if (count === null) return sealed === 0 ? null : sealed;
    sealed += count;
    if (count < batch) return sealed;
  }
}

/** Unsealed entries are due at once. */
export async function msUntilSealDue(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query({
    name: "ms_until_seal_due",
    text: "select 1 from audit_log where position is null limit 1",
  });
  return rows.length > 0 ? 0 : Number.POSITIVE_INFINITY;
}

/** Runs work that changes chains in a transaction; null when another process holds the lock. */
export async function withChainLock<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T | null> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    // The anchor in the object store must not be ahead of the database after a crash.
    await client.query("set local synchronous_commit = on");
    const { rows } = await client.query<{ locked: boolean }>(
      "select pg_try_advisory_xact_lock($1) as locked",
      [chainLock],
    );
    const result = rows[0]?.locked ? await work(client) : null;
    await client.query("commit");
    client.release();
    return result;
  } catch (error) {
    // The transaction may still be open, so the connection is closed instead of returned to the pool.
    client.release(error as Error);
    throw error;
  }
}

async function sealBatch(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<ChainEntry>({
    name: "audit_unsealed",
    text: `select ${chainColumns} from audit_log where position is null order by id limit $1`,
    values: [batch],
  });
  if (rows.length === 0) return 0;
  const heads = await findHeads(client, [...new Set(rows.map((row) => row.workspace_id))]);
  const sealed = rows.map((row) => {
    const head = heads.get(row.workspace_id) ?? { position: 0, hash: genesis };
    const position = head.position + 1;
    const hash = hashEntry(head.hash, position, row);
    heads.set(row.workspace_id, { position, hash });
    return { id: row.id, position, hash };
  });
  await client.query({
    name: "audit_seal",
    text: `update audit_log l set position = s.position, hash = s.hash
      from unnest($1::bigint[], $2::bigint[], $3::bytea[]) as s (id, position, hash) where l.id = s.id`,
    values: [
      sealed.map(({ id }) => id),
      sealed.map(({ position }) => position),
      sealed.map(({ hash }) => hash),
    ],
  });
  const moved = [...heads];
  await client.query({
    name: "audit_heads",
    text: `insert into audit_chains (workspace_id, pruned_position, pruned_hash, head_position, head_hash)
      select s.id, 0, $4, s.position, s.hash
      from unnest($1::uuid[], $2::bigint[], $3::bytea[]) as s (id, position, hash)
      on conflict (workspace_id) do update set head_position = excluded.head_position, head_hash = excluded.head_hash`,
    values: [
      moved.map(([id]) => id),
      moved.map(([, head]) => head.position),
      moved.map(([, head]) => head.hash),
      genesis,
    ],
  });
  return rows.length;
}

async function findHeads(client: pg.PoolClient, workspaceIds: readonly string[]): Promise<Map<string, Head>> {
  const { rows } = await client.query<{ workspace_id: string; position: string; hash: Buffer }>({
    name: "audit_find_heads",
    text: `select workspace_id, head_position as position, head_hash as hash from audit_chains
      where workspace_id = any($1::uuid[])`,
    values: [workspaceIds],
  });
  return new Map(
    rows.map(({ workspace_id, position, hash }) => [workspace_id, { position: Number(position), hash }]),
  );
}
