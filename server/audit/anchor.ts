import { text } from "node:stream/consumers";
import { z } from "zod";
import type { Database } from "../platform/db/database.ts";
import { ObjectMissingError, type ObjectStore } from "../platform/storage/store.ts";

/** Key prefix of the anchors: one object for each workspace with the end of its audit log. */
export const anchorPrefix = "parley/audit/";

/** An anchor: position and hash (hex) of an entry of the chain. */
const Anchor = z.object({ position: z.int().min(1), hash: z.string().regex(/^[0-9a-f]{64}$/) });
export type ChainAnchor = z.output<typeof Anchor>;

/** Chains anchored in one run. */
const batchSize = 200;

interface HeadRow {
  readonly workspace_id: string;
  readonly head_position: string;
  readonly head_hash: Buffer;
}

interface AnchorLog {
  error(detail: object, message: string): void;
}

/**
 * Stores the end of each chain that has grown in the object store, so that a log that was truncated or rewritten in the
 * database is detected, as long as the attacker does not control the store too. An anchor that contradicts the database
 * is kept.
 */
export async function anchorChains(db: Database, store: ObjectStore, log: AnchorLog): Promise<void> {
  const { rows } = await db.pool.query<HeadRow>({
    name: "audit_unanchored",
    text: `select workspace_id, head_position, head_hash from audit_chains
      where head_position > anchored_position order by workspace_id limit ${batchSize}`,
  });
  for (const row of rows) {
    const anchor = await readAnchor(store, row.workspace_id);
    if (anchor === null || (await agrees(db, row.workspace_id, anchor))) await writeAnchor(db, store, row);
    else
      log.error(
        { workspaceId: row.workspace_id },
        "the audit log does not match its anchor in the object store; run: parley audit verify",
      );
  }
}

/** Replaces the anchor by the current end of the chain. @returns the previous anchor. */
export async function replaceAnchor(
  db: Database,
  store: ObjectStore,
  workspaceId: string,
): Promise<ChainAnchor | null> {
  const anchor = await readAnchor(store, workspaceId);
  const { rows } = await db.pool.query<HeadRow>(
    "select workspace_id, head_position, head_hash from audit_chains where workspace_id = $1",
    [workspaceId],
  );
  if (rows[0] === undefined) await store.delete(keyOf(workspaceId));
  else await writeAnchor(db, store, rows[0]);
  return anchor;
}

/** The anchor of a workspace; null without one. A malformed object is returned as an anchor that matches no chain. */
export async function readAnchor(store: ObjectStore, workspaceId: string): Promise<ChainAnchor | null> {
  try {
    const { body } = await store.get(keyOf(workspaceId));
    return Anchor.safeParse(parse(await text(body))).data ?? { position: 1, hash: "0".repeat(64) };
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    throw error;
  }
}

/** Ids of all workspaces with an anchor. */
export async function listAnchored(store: ObjectStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const { key } of store.list(anchorPrefix)) ids.push(key.slice(anchorPrefix.length));
  return ids.filter((id) => z.uuid().safeParse(id).success);
}

async function writeAnchor(db: Database, store: ObjectStore, row: HeadRow): Promise<void> {
  const anchor: ChainAnchor = { position: Number(row.head_position), hash: row.head_hash.toString("hex") };
  await store.put(keyOf(row.workspace_id), Buffer.from(JSON.stringify(anchor)), {
    contentType: "application/json",
  });
  await db.pool.query("update audit_chains set anchored_position = $2 where workspace_id = $1", [
    row.workspace_id,
    anchor.position,
  ]);
}

/** Whether the log contains the anchored entry, or pruned it because of its age. */
async function agrees(db: Database, workspaceId: string, anchor: ChainAnchor): Promise<boolean> {
  const { rows } = await db.pool.query(
    `select 1 from audit_chains c where c.workspace_id = $1 and (
       c.pruned_position > $2 or (c.pruned_position = $2 and c.pruned_hash = decode($3, 'hex'))
       or exists (select 1 from audit_log l
         where l.workspace_id = $1 and l.position = $2 and l.hash = decode($3, 'hex')))`,
    [workspaceId, anchor.position, anchor.hash],
  );
  return rows.length > 0;
}

function keyOf(workspaceId: string): string {
  return `${anchorPrefix}${workspaceId}`;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null; // Modified by someone: not an anchor.
  }
}
