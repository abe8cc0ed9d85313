import type pg from "pg";
import type { Database } from "../../platform/db/database.ts";
import { type AuditTtl, type ChainAnchor, findPruningProblem } from "./anchor.ts";
import { type ChainEntry, chainColumns, genesis, hashEntry, hasUnhashedValues } from "./chain.ts";

/** Entries read at a time, so that memory use does not grow with the log. */
const pageSize = 2000;

/** The result of verifying the log of one workspace. */
export interface ChainReport {
  readonly workspaceId: string;
  /** The last entry that was pruned; the log begins after it. */
  readonly pruned: number;
  /** How many entries are valid, starting after the pruned ones. */
  readonly entries: number;
  /** How many of them have erased values. */
  readonly erased: number;
  /** Entries that are not in the chain yet. */
  readonly unsealed: number;
  /** Position and hash of the last valid entry. */
  readonly position: number;
  readonly hash: Buffer;
  /** Where and why the chain breaks first; null when it is intact. */
  readonly broken: { readonly position: number; readonly reason: string } | null;
}

interface Chain {
  readonly pruned: number;
  readonly prunedHash: Buffer;
  readonly head: number;
  readonly headHash: Buffer;
  readonly unsealed: number;
}

/**
 * Verifies the chain of a workspace in one snapshot.
 * @param anchor the anchor in the object store, read before the chain; null: none, so that the beginning is not checked.
 * @param ttlMs how long entries are kept; null: indefinitely.
 * @param onEntry called with the hash of every valid entry.
 */
export async function verifyChain(
  { pool }: Pick<Database, "pool">,
  workspaceId: string,
  anchor: ChainAnchor | null,
  ttlMs: AuditTtl,
  onEntry: (hash: Buffer) => void = () => {},
): Promise<ChainReport> {
  const client = await pool.connect();
  try {
    await client.query("begin isolation level repeatable read read only");
    const report = await walk(client, workspaceId, anchor, ttlMs, onEntry);
    await client.query("commit");
    client.release();
    return report;
  } catch (error) {
    // The transaction may still be open, so the connection is closed instead of returned to the pool.
    client.release(error as Error);
    throw error;
  }
}

async function walk(
  client: pg.PoolClient,
  workspaceId: string,
  anchor: ChainAnchor | null,
  ttlMs: AuditTtl,
  onEntry: (hash: Buffer) => void,
): Promise<ChainReport> {
  const chain = await findChain(client, workspaceId);
  let [position, hash, erased] = [chain.pruned, chain.prunedHash, 0];
  const end = (reason: string | null): ChainReport => ({
    workspaceId,
    pruned: chain.pruned,
    entries: position - chain.pruned,
    erased,
    unsealed: chain.unsealed,
    position,
    hash,
    broken: reason === null ? null : { position: position + 1, reason },
  });
  onEntry(hash);
  const anchored = new Map(
    [...(anchor?.earlier ?? []), ...(anchor === null ? [] : [anchor])].map((end) => [end.position, end.hash]),
  );
  const pruning = findPruningProblem(anchor, { position, hash }, ttlMs, new Date());
  if (pruning !== null) return end(pruning);
  for (;;) {
    const page = await readPage(client, workspaceId, position);
    for (const entry of page) {
      const problem = findProblem(entry, position, hash);
      if (problem !== null) return end(problem);
      if ((anchored.get(position + 1) ?? entry.hash.toString("hex")) !== entry.hash.toString("hex"))
        return end("the anchor in the object store names a different entry here: the log was rewritten");
      position += 1;
      hash = entry.hash;
      if (entry.who_salt === null || entry.details_salt === null) erased += 1;
      onEntry(hash);
    }
    if (page.length < pageSize) break;
  }
  return end(findEndProblem(chain, anchor, position, hash));
}

type SealedEntry = ChainEntry & { readonly position: string; readonly hash: Buffer };

/** What is wrong with the entry that follows the one at this position; null when nothing is. */
function findProblem(entry: SealedEntry, position: number, hash: Buffer): string | null {
  const found = Number(entry.position);
  const wanted = position + 1;
  if (found < wanted) return `two entries have the position ${found}`;
  if (found > wanted)
    return found === wanted + 1
      ? `entry ${wanted} is missing`
      : `entries ${wanted} to ${found - 1} are missing`;
  if (hasUnhashedValues(entry)) return "an erased value was replaced by another one";
  return hashEntry(hash, wanted, entry).equals(entry.hash)
    ? null
    : "this entry or the one before it was changed, moved or inserted";
}

function findEndProblem(
  chain: Chain,
  anchor: ChainAnchor | null,
  position: number,
  hash: Buffer,
): string | null {
  if (chain.head > position) return `the end is missing: there were ${chain.head} entries`;
  if (anchor !== null && anchor.position > position)
    return `the end is missing: the anchor in the object store counts ${anchor.position} entries`;
  if (chain.head < position || !chain.headHash.equals(hash))
    return `the recorded end of the log (audit_chains) differs: position ${chain.head}`;
  return null;
}

async function findChain(client: pg.PoolClient, workspaceId: string): Promise<Chain> {
  const { rows } = await client.query<{
    pruned: string | null;
    pruned_hash: Buffer | null;
    head: string | null;
    head_hash: Buffer | null;
    unsealed: string;
  }>({
    text: `select c.pruned_position as pruned, c.pruned_hash, c.head_position as head, c.head_hash,
        (select count(*) from audit_log l where l.workspace_id = $1 and l.position is null) as unsealed
      from (select $1::uuid as id) wanted left join audit_chains c on c.workspace_id = wanted.id`,
    values: [workspaceId],
  });
  const row = rows[0];
  return {
    pruned: Number(row?.pruned ?? 0),
    prunedHash: row?.pruned_hash ?? genesis,
    head: Number(row?.head ?? 0),
    headHash: row?.head_hash ?? genesis,
    unsealed: Number(row?.unsealed ?? 0),
  };
}

async function readPage(client: pg.PoolClient, workspaceId: string, after: number): Promise<SealedEntry[]> {
  const { rows } = await client.query<SealedEntry>({
    name: "audit_verify_page",
    text: `select ${chainColumns}, position, hash from audit_log
      where workspace_id = $1 and position > $2 order by position, id limit $3`,
    values: [workspaceId, after, pageSize],
  });
  return rows;
}
