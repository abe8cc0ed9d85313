import { text } from "node:stream/consumers";
import { z } from "zod";
import type { Database } from "../db/database.ts";
import { ObjectMissingError, type ObjectStore } from "../storage/store.ts";

/** Below it lies one object for each workspace that says where its audit log ended. */
const marksPrefix = "parley/audit/";

/** What the store was told of a chain: place and hash (hex) of an entry. */
const Mark = z.object({ position: z.int().min(1), hash: z.string().regex(/^[0-9a-f]{64}$/) });
export type ChainMark = z.output<typeof Mark>;

/** Chains told of in one go. */
const atOnce = 200;

interface HeadRow {
  readonly workspace_id: string;
  readonly head_position: string;
  readonly head_hash: Buffer;
}

interface MarkLog {
  error(detail: object, message: string): void;
}

/**
 * Tells the object store where the chains that have grown end, so that a log whose end was cut off, or that was written
 * anew in the database, is found out as long as the store is in other hands. A mark that contradicts the database
 * stays as it is.
 */
export async function markChains(db: Database, store: ObjectStore, log: MarkLog): Promise<void> {
  const { rows } = await db.pool.query<HeadRow>({
    name: "audit_unmarked",
    text: `select workspace_id, head_position, head_hash from audit_chains
      where head_position > marked_position order by workspace_id limit ${atOnce}`,
  });
  for (const row of rows) {
    const mark = await readMark(store, row.workspace_id);
    if (mark === null || (await agrees(db, row.workspace_id, mark))) await writeMark(db, store, row);
    else
      log.error(
        { workspaceId: row.workspace_id },
        "the audit log is not the one that the object store was told of: parley audit verify says more",
      );
  }
}

/** Makes the chain as it is now the one that the store is told of. @returns the mark that was there before. */
export async function replaceMark(
  db: Database,
  store: ObjectStore,
  workspaceId: string,
): Promise<ChainMark | null> {
  const mark = await readMark(store, workspaceId);
  const { rows } = await db.pool.query<HeadRow>(
    "select workspace_id, head_position, head_hash from audit_chains where workspace_id = $1",
    [workspaceId],
  );
  if (rows[0] === undefined) await store.delete(keyOf(workspaceId));
  else await writeMark(db, store, rows[0]);
  return mark;
}

/** What the store was told of a workspace; null: nothing. What is no mark contradicts every chain. */
export async function readMark(store: ObjectStore, workspaceId: string): Promise<ChainMark | null> {
  try {
    const { body } = await store.get(keyOf(workspaceId));
    return Mark.safeParse(parse(await text(body))).data ?? { position: 1, hash: "0".repeat(64) };
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    throw error;
  }
}

/** Ids of all workspaces that the store was told of. */
export async function listMarked(store: ObjectStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const { key } of store.list(marksPrefix)) ids.push(key.slice(marksPrefix.length));
  return ids.filter((id) => z.uuid().safeParse(id).success);
}

async function writeMark(db: Database, store: ObjectStore, row: HeadRow): Promise<void> {
  const mark: ChainMark = { position: Number(row.head_position), hash: row.head_hash.toString("hex") };
  await store.put(keyOf(row.workspace_id), Buffer.from(JSON.stringify(mark)), {
    contentType: "application/json",
  });
  await db.pool.query("update audit_chains set marked_position = $2 where workspace_id = $1", [
    row.workspace_id,
    mark.position,
  ]);
}

/** Whether the entry that the mark names is in the log; one that was removed because of its age counts as such. */
async function agrees(db: Database, workspaceId: string, mark: ChainMark): Promise<boolean> {
  const { rows } = await db.pool.query(
    `select 1 from audit_chains c where c.workspace_id = $1 and (
       c.anchor_position > $2 or (c.anchor_position = $2 and c.anchor_hash = decode($3, 'hex'))
       or exists (select 1 from audit_log l
         where l.workspace_id = $1 and l.position = $2 and l.hash = decode($3, 'hex')))`,
    [workspaceId, mark.position, mark.hash],
  );
  return rows.length > 0;
}

function keyOf(workspaceId: string): string {
  return `${marksPrefix}${workspaceId}`;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null; // Whoever has changed it: no mark.
  }
}
