import { type RawBuilder, sql } from "kysely";
import { allowsSql } from "../../../people/events/delivery-states.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { canReceive } from "./can-receive.ts";
import { makeHookDue } from "./requeue.ts";

/** Which events of a hook's type are replayed. */
export type ReplayKind = "failed" | "undelivered" | "all";

/** Events from `since` up to, not including, `until`. */
export interface ReplayRange {
  readonly since: Date;
  readonly until: Date;
}

/** Events of one transaction, which takes about a second and holds its locks as long. */
const maxEvents = 20_000;

/**
 * Makes the deliveries of a range of events due again, in the order of the events, and creates those that are missing. Works
 * in batches, each a transaction of its own, so that sending begins at once and no worker waits for long.
 * @returns how many deliveries are due.
 */
export async function replay(
  db: Pick<Database, "kysely">,
  hookId: string,
  kind: ReplayKind,
  range: ReplayRange,
): Promise<number> {
  const candidates = candidatesOf(hookId, kind, range);
  const transaction = db.kysely.transaction();
  const { size, now } = await transaction.execute((tx) => countCandidates(tx, candidates));
  // Each is due a millisecond after the one before, the last one now, which is the order they are sent in.
  let dueFrom = now.getTime() - size;
  let after = "0";
  let count = 0;
  for (;;) {
    const done = await transaction.execute((tx) =>
      replayBatch(tx, hookId, candidates, after, new Date(dueFrom)),
    );
    count += done.count;
    if (done.seen < maxEvents || done.last === null) return count;
    after = done.last;
    dueFrom += done.seen;
  }
}

/**
 * Events and deliveries are joined by a hash. Without statistics, the planner would scan all deliveries of the hook again for
 * each event: half a minute for 12,000.
 */
const joinByHash = sql`set local enable_nestloop = off`;

async function countCandidates(
  tx: Tx,
  candidates: RawBuilder<unknown>,
): Promise<{ size: number; now: Date }> {
  await joinByHash.execute(tx);
  const { rows } = await sql<{ size: number; now: Date }>`
    select count(*)::integer as size, now() ${candidates}`.execute(tx);
  return rows[0] ?? { size: 0, now: new Date() };
}

/** Events in order, each with its delivery to the hook if it has one. */
interface FoundEvents {
  readonly event_ids: readonly string[];
  readonly delivery_ids: readonly (string | null)[];
}

/** @param after the id of the event before the batch. */
async function findBatch(tx: Tx, candidates: RawBuilder<unknown>, after: string): Promise<FoundEvents> {
  await joinByHash.execute(tx);
  const { rows } = await sql<FoundEvents>`
    with found as materialized (
      select e.id, d.id as delivery_id ${candidates} and e.id > ${after}::bigint
      order by e.id limit ${maxEvents} for key share of e
    )
    select coalesce(array_agg(id order by id), '{}') as event_ids,
      coalesce(array_agg(delivery_id order by id), '{}') as delivery_ids
    from found`.execute(tx);
  await sql`set local enable_nestloop = on`.execute(tx);
  return rows[0] ?? { event_ids: [], delivery_ids: [] };
}

interface BatchResult {
  /** Events of the batch. */
  readonly seen: number;
  /** Deliveries that are due now. */
  readonly count: number;
  /** The last event's id. */
  readonly last: string | null;
}

/**
 * Locks events, then deliveries, then the hook, the order everywhere. A delivery that another transaction has locked is being
 * saved or requeued at this moment and is skipped.
 */
async function replayBatch(
  tx: Tx,
  hookId: string,
  candidates: RawBuilder<unknown>,
  after: string,
  dueFrom: Date,
): Promise<BatchResult> {
  // Two replays at the same time would both find that an event has no delivery yet.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`replay ${hookId}`}, 0))`.execute(tx);
  // Against deletion of the hook, which deletes its deliveries.
  await sql`select 1 from hooks where id = ${hookId} for key share`.execute(tx);
  const { event_ids, delivery_ids } = await findBatch(tx, candidates, after);
  const { rows } = await sql<{ count: number }>`
    with ordered as materialized (
      select event_id, delivery_id, least(now(), ${dueFrom}::timestamptz + interval '1 ms' * n) as due_at
      from unnest(${event_ids}::bigint[], ${delivery_ids}::bigint[])
        with ordinality f (event_id, delivery_id, n)
    ), created as (
      insert into deliveries (hook_id, event_id, event_type, subject_id, recording_id, due_at)
      select h.id, e.id, e.type, e.subject_id, e.recording_id, o.due_at
      from ordered o join events e on e.id = o.event_id join hooks h on h.id = ${hookId}
      where o.delivery_id is null order by e.id
      returning 1
    ), held as materialized (
      select d.id, o.due_at from ordered o join deliveries d on d.id = o.delivery_id
      where ${sql.raw(allowsSql("d", "requeue"))} for update of d skip locked
    ), requeued as (
      update deliveries d set state = 'pending', due_at = held.due_at, attempts_before = d.attempts, settled_at = null
      from held where d.id = held.id
      returning 1
    )
    select ((select count(*) from created) + (select count(*) from requeued))::integer as count`.execute(tx);
  const count = rows[0]?.count ?? 0;
  if (count > 0) await makeHookDue(tx, hookId);
  return { seen: event_ids.length, count, last: event_ids.at(-1) ?? null };
}

/**
 * The events `e` of the hook's type in the range, with their delivery `d` to the hook. Events that wait for a fan-out get
 * their deliveries from it. Whether the hook's owner can see the subject is checked here for events without a delivery; for
 * the others it is checked before they are sent.
 */
function candidatesOf(hookId: string, kind: ReplayKind, { since, until }: ReplayRange): RawBuilder<unknown> {
  const isMissing = sql.raw(`(d.id is null and ${canReceive("e")})`);
  const isWanted = {
    failed: sql`d.state in ('exhausted', 'gone')`,
    undelivered: sql`(d.state in ('exhausted', 'gone') or ${isMissing})`,
    all: sql`(${sql.raw(allowsSql("d", "requeue"))} or ${isMissing})`,
  }[kind];
  return sql`
    from hooks h
      join workspaces w on w.id = h.workspace_id
      join events e on e.workspace_id = h.workspace_id and e.type = h.hook_type
      left join deliveries d on d.event_id = e.id and d.hook_id = ${hookId}
    where h.id = ${hookId} and not exists (select 1 from waiting_events x where x.event_id = e.id)
      and e.occurred_at >= ${since} and e.occurred_at < ${until} and ${isWanted}`;
}
