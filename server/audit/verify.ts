import type pg from "pg";
import type { Database } from "../db/database.ts";
import { type ChainEntry, chainColumns, genesis, hashEntry, holdsUnvouched } from "./chain.ts";
import type { ChainMark } from "./mark.ts";

/** Entries read at a time: memory does not grow with the log. */
const pageSize = 2000;

/** How the log of one workspace stands. */
export interface Verdict {
  readonly workspaceId: string;
  /** How many entries were found right, beginning after what was removed because of its age. */
  readonly entries: number;
  /** How many of them had something erased. */
  readonly erased: number;
  /** Written and not in the chain yet. */
  readonly unsealed: number;
  /** Place and hash of the last entry that is right. */
  readonly position: number;
  readonly hash: Buffer;
  /** Where the chain breaks first, and how; null when it holds. */
  readonly broken: { readonly position: number; readonly reason: string } | null;
}

interface Chain {
  readonly anchor: number;
  readonly anchorHash: Buffer;
  readonly head: number;
  readonly headHash: Buffer;
  readonly unsealed: number;
}

/**
 * Goes through the chain of a workspace, as it was at one moment.
 * @param mark what the store was told of it, read before this.
 * @param meet called with the hash of every entry that is right, for whoever looks for one.
 */
export async function verifyChain(
  { pool }: Pick<Database, "pool">,
  workspaceId: string,
  mark: ChainMark | null,
  meet: (hash: Buffer) => void = () => {},
): Promise<Verdict> {
  const client = await pool.connect();
  try {
    await client.query("begin isolation level repeatable read read only");
    const verdict = await walk(client, workspaceId, mark, meet);
    await client.query("commit");
    client.release();
    return verdict;
  } catch (error) {
    // A connection whose transaction may still be open is not given back.
    client.release(error as Error);
    throw error;
  }
}

async function walk(
  client: pg.PoolClient,
  workspaceId: string,
  mark: ChainMark | null,
  meet: (hash: Buffer) => void,
): Promise<Verdict> {
  const chain = await findChain(client, workspaceId);
  let [position, hash, erased] = [chain.anchor, chain.anchorHash, 0];
  const end = (reason: string | null): Verdict => ({
    workspaceId,
    entries: position - chain.anchor,
    erased,
    unsealed: chain.unsealed,
    position,
    hash,
    broken: reason === null ? null : { position: position + 1, reason },
  });
  meet(hash);
  if (contradicts(mark, position, hash)) return end("the object store was told of another entry before it");
  for (;;) {
    const page = await readPage(client, workspaceId, position);
    for (const entry of page) {
      const fault = findFault(entry, position, hash);
      if (fault !== null) return end(fault);
      if (contradicts(mark, position + 1, entry.hash))
        return end("the object store was told of another entry here: the log was written anew");
      position += 1;
      hash = entry.hash;
      if (entry.who_salt === null || entry.details_salt === null) erased += 1;
      meet(hash);
    }
    if (page.length < pageSize) break;
  }
  return end(findEndFault(chain, mark, position, hash));
}

type SealedEntry = ChainEntry & { readonly position: string; readonly hash: Buffer };

/** Whether the store was told of another hash at this place. */
function contradicts(mark: ChainMark | null, position: number, hash: Buffer): boolean {
  return mark !== null && mark.position === position && mark.hash !== hash.toString("hex");
}

/** What is wrong with the entry that follows the one at this position; null when nothing is. */
function findFault(entry: SealedEntry, position: number, hash: Buffer): string | null {
  const found = Number(entry.position);
  const wanted = position + 1;
  if (found < wanted) return `two entries claim the place ${found}`;
  if (found > wanted)
    return found === wanted + 1
      ? `entry ${wanted} is missing`
      : `entries ${wanted} to ${found - 1} are missing`;
  if (holdsUnvouched(entry)) return "something was put where it had been erased";
  return hashEntry(hash, wanted, entry).equals(entry.hash)
    ? null
    : "the entry was changed, moved or put in, or the one before it was";
}

function findEndFault(chain: Chain, mark: ChainMark | null, position: number, hash: Buffer): string | null {
  if (chain.head > position) return `the end is missing: there were ${chain.head} entries`;
  if (mark !== null && mark.position > position)
    return `the end is missing: the object store was told of ${mark.position} entries`;
  if (chain.head < position || !chain.headHash.equals(hash))
    return `the record of where the log ends (audit_chains) says something else: place ${chain.head}`;
  return null;
}

async function findChain(client: pg.PoolClient, workspaceId: string): Promise<Chain> {
  const { rows } = await client.query<{
    anchor: string | null;
    anchor_hash: Buffer | null;
    head: string | null;
    head_hash: Buffer | null;
    unsealed: string;
  }>({
    text: `select c.anchor_position as anchor, c.anchor_hash, c.head_position as head, c.head_hash,
        (select count(*) from audit_log l where l.workspace_id = $1 and l.position is null) as unsealed
      from (select $1::uuid as id) wanted left join audit_chains c on c.workspace_id = wanted.id`,
    values: [workspaceId],
  });
  const row = rows[0];
  return {
    anchor: Number(row?.anchor ?? 0),
    anchorHash: row?.anchor_hash ?? genesis,
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
