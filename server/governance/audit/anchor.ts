import { text } from "node:stream/consumers";
import { z } from "zod";
import type { Database } from "../../platform/db/database.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";

/** Key prefix of the anchors: one object for each workspace with the end of its audit log. */
export const anchorPrefix = "parley/audit/";

const Position = z.int().min(0);
const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const EntryOfChain = z.object({ position: z.int().min(1), hash: Hash });

/** An entry that ended the chain when it was anchored, with its time. */
const Earlier = EntryOfChain.extend({ occurred_at: z.iso.datetime() });
type EarlierEnd = z.output<typeof Earlier>;

/**
 * An anchor: position and hash (hex) of the last entry of the chain. What the object of an older version lacks is
 * undefined.
 */
const Anchor = EntryOfChain.extend({
  occurred_at: z.iso.datetime().optional(),
  /** The last entry that had been pruned. */
  pruned_position: Position.optional(),
  pruned_hash: Hash.optional(),
  /** Ends of earlier anchors that are not pruned, the latest first. */
  earlier: z.array(Earlier).max(200).default([]),
});
export type ChainAnchor = z.output<typeof Anchor>;

/** Earlier ends are at least this far apart, and further the older they are. */
const minApartMs = 3_600_000;
const apartShare = 1 / 8;

/** Chains anchored in one run. */
const batchSize = 200;

interface EndRow {
  readonly workspace_id: string;
  readonly head_position: string;
  readonly head_hash: Buffer;
  readonly pruned_position: string;
  readonly pruned_hash: Buffer;
  /** Null if the last entry was pruned. */
  readonly occurred_at: Date | null;
}

const endQuery = `select c.workspace_id, c.head_position, c.head_hash, c.pruned_position, c.pruned_hash, l.occurred_at
  from audit_chains c left join audit_log l on l.workspace_id = c.workspace_id and l.position = c.head_position`;

interface AnchorLog {
  error(detail: object, message: string): void;
}

/** How long entries are kept; null: indefinitely, so that none is pruned. */
export type AuditTtl = number | null;

/**
 * Stores the end of each chain that has grown in the object store, so that a log that was truncated or rewritten in the
 * database is detected, as long as the attacker does not control the store too. An anchor that contradicts the database
 * is kept.
 */
export async function anchorChains(
  db: Database,
  store: ObjectStore,
  log: AnchorLog,
  ttlMs: AuditTtl,
): Promise<void> {
  const { rows } = await db.pool.query<EndRow>({
    name: "audit_unanchored",
    text: `${endQuery} where c.head_position > c.anchored_position order by c.workspace_id limit ${batchSize}`,
  });
  for (const row of rows) {
    const anchor = await readAnchor(store, row.workspace_id);
    if (anchor === null || (await agrees(db, row, anchor, ttlMs))) await writeAnchor(db, store, row, anchor);
    else
      log.error(
        { workspaceId: row.workspace_id },
        "the audit log does not match its anchor in the object store; run: parley audit verify",
      );
  }
}

/** Records in the anchor where the chain begins now, unless the anchor contradicts the database. */
export async function anchorPruned(
  db: Database,
  store: ObjectStore,
  workspaceId: string,
  ttlMs: AuditTtl,
): Promise<void> {
  const { rows } = await db.pool.query<EndRow>(`${endQuery} where c.workspace_id = $1`, [workspaceId]);
  const anchor = await readAnchor(store, workspaceId);
  const [row] = rows;
  if (row !== undefined && anchor !== null && (await agrees(db, row, anchor, ttlMs)))
    await writeAnchor(db, store, row, anchor);
}

/** Replaces the anchor by the current end of the chain, without its history. @returns the previous anchor. */
export async function replaceAnchor(
  db: Database,
  store: ObjectStore,
  workspaceId: string,
): Promise<ChainAnchor | null> {
  const anchor = await readAnchor(store, workspaceId);
  const { rows } = await db.pool.query<EndRow>(`${endQuery} where c.workspace_id = $1`, [workspaceId]);
  if (rows[0] === undefined) await store.delete(keyOf(workspaceId));
  else await writeAnchor(db, store, rows[0], null);
  return anchor;
}

/** The anchor of a workspace; null without one. A malformed object is returned as an anchor that matches no chain. */
export async function readAnchor(store: ObjectStore, workspaceId: string): Promise<ChainAnchor | null> {
  try {
    const { body } = await store.get(keyOf(workspaceId));
    const malformed = { position: 1, hash: "0".repeat(64), earlier: [] };
    return Anchor.safeParse(parse(await text(body))).data ?? malformed;
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

/**
 * Why the beginning of a chain can't be the result of pruning, which removes only anchored entries that are older than
 * `PARLEY_AUDIT_TTL`; null if it can.
 * @param pruned the last entry that is said to have been pruned.
 */
export function findPruningProblem(
  anchor: ChainAnchor | null,
  pruned: { readonly position: number; readonly hash: Buffer },
  ttlMs: AuditTtl,
  now: Date,
): string | null {
  if (anchor === null) return null;
  const { position } = pruned;
  const hash = pruned.hash.toString("hex");
  if (position > anchor.position)
    return `it is said to begin after entry ${position}, but the anchor in the object store ends at ${anchor.position}, and later entries are never pruned`;
  const ends = [anchor, ...anchor.earlier];
  if (ends.some((end) => end.position === position && end.hash !== hash))
    return `the anchor in the object store names a different entry ${position}`;
  const before = anchor.pruned_position;
  if (before === undefined) return null;
  if (position < before)
    return `it begins after entry ${position}, but entries up to ${before} were pruned before`;
  if (position === before)
    return anchor.pruned_hash === hash ? null : `the anchor names a different last pruned entry ${before}`;
  if (ttlMs === null)
    return `entries ${before + 1} to ${position} were removed, although entries are kept indefinitely (PARLEY_AUDIT_TTL is not set)`;
  const young = ends.find(
    (end) =>
      end.position <= position &&
      end.occurred_at !== undefined &&
      Date.parse(end.occurred_at) > now.getTime() - ttlMs,
  );
  return young === undefined
    ? null
    : `entry ${young.position} of ${young.occurred_at} was removed before the age of PARLEY_AUDIT_TTL`;
}

async function writeAnchor(
  db: Database,
  store: ObjectStore,
  row: EndRow,
  previous: ChainAnchor | null,
): Promise<void> {
  const position = Number(row.head_position);
  const prunedPosition = Number(row.pruned_position);
  const anchor: z.input<typeof Anchor> = {
    position,
    hash: row.head_hash.toString("hex"),
    ...(row.occurred_at === null ? {} : { occurred_at: row.occurred_at.toISOString() }),
    pruned_position: prunedPosition,
    pruned_hash: row.pruned_hash.toString("hex"),
    earlier: thin(
      [previous, ...(previous?.earlier ?? [])]
        .filter((end) => end !== null)
        .flatMap(({ position, hash, occurred_at }) =>
          occurred_at === undefined ? [] : [{ position, hash, occurred_at }],
        )
        .filter((end) => end.position > prunedPosition && end.position < position),
      new Date(),
    ),
  };
  await store.put(keyOf(row.workspace_id), Buffer.from(JSON.stringify(anchor)), {
    contentType: "application/json",
  });
  await db.pool.query("update audit_chains set anchored_position = $2 where workspace_id = $1", [
    row.workspace_id,
    anchor.position,
  ]);
}

/**
 * A short history: the oldest end, and of the others those that are far enough from the next older one, an hour at least
 * and further the older they are. About a hundred for ten years.
 * @param ends the latest first.
 */
function thin(ends: readonly EarlierEnd[], now: Date): EarlierEnd[] {
  const kept: EarlierEnd[] = [];
  for (const end of ends.toReversed()) {
    const at = Date.parse(end.occurred_at);
    const apartMs = Math.max(minApartMs, (now.getTime() - at) * apartShare);
    const last = kept.at(-1);
    if (last === undefined || at - Date.parse(last.occurred_at) >= apartMs) kept.push(end);
  }
  return kept.reverse().slice(0, 200);
}

/** Whether the log contains the anchored entry, or pruned it because of its age. */
async function agrees(db: Database, row: EndRow, anchor: ChainAnchor, ttlMs: AuditTtl): Promise<boolean> {
  const pruned = { position: Number(row.pruned_position), hash: row.pruned_hash };
  if (findPruningProblem(anchor, pruned, ttlMs, new Date()) !== null) return false;
  // What was pruned was compared above.
  const ends = [anchor, ...anchor.earlier].filter(({ position }) => position > pruned.position);
  const { rows } = await db.pool.query<{ count: number }>(
    `select count(*)::integer as count from audit_log l
      join unnest($2::bigint[], $3::text[]) as ends (position, hash)
        on ends.position = l.position and decode(ends.hash, 'hex') = l.hash
      where l.workspace_id = $1`,
    [row.workspace_id, ends.map(({ position }) => position), ends.map(({ hash }) => hash)],
  );
  return rows[0]?.count === ends.length;
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

export const anchorAuditLogKind = defineRecurringJob({
  name: "anchor_audit_log",
  label: (i18n) => i18n.t("Anchor audit log"),
  every: "sweep",
  handler: ({ db, store, log, config }) => anchorChains(db, store, log, config.auditTtlMs),
});
