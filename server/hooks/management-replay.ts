import { type RawBuilder, sql } from "kysely";
import { parseTimestamp } from "../../contract/common.ts";
import type { Violation } from "../../contract/errors.ts";
import type { Database, Tx } from "../db/database.ts";
import { invalidInput } from "../http/problem.ts";
import { unpackHook } from "./batch-queries.ts";
import { mayHear } from "./fan-out.ts";
import { holdHook, markDue } from "./management-queries.ts";
import { keptDays } from "./queries.ts";

/** Which events of a hook's type are sent again. */
export type ReplayKind = "failed" | "undelivered" | "all";

/** Events from `since` up to, not including, `until`. */
export interface ReplayRange {
  readonly since: Date;
  readonly until: Date;
}

/** Events of one transaction: it takes about a second, and what it holds is not waited for long. */
const batch = 20_000;

/**
 * Reads the range of a replay.
 * @throws ProblemError `invalid_input` for one that lies before what is kept, or holds no time.
 */
export function readRange(input: { since: string; until?: string | undefined }, now: Date): ReplayRange {
  const since = parseTimestamp(input.since) ?? now;
  const until = input.until === undefined ? now : (parseTimestamp(input.until) ?? now);
  const violations: Violation[] = [];
  if (since.getTime() < now.getTime() - keptDays * 86_400_000) {
    violations.push({
      pointer: "/since",
      detail: `lies too far back: events and deliveries are kept for ${keptDays} days`,
    });
  }
  if (until <= since) {
    violations.push(
      input.until === undefined
        ? { pointer: "/since", detail: "lies in the future" }
        : { pointer: "/until", detail: "must be later than since" },
    );
  }
  if (violations.length > 0) throw invalidInput(violations);
  return { since, until };
}

/**
 * Makes deliveries of a range of events due again, in the order of the events. Goes through them by the batch, each in
 * a transaction of its own, so that sending begins at once and no worker waits for long.
 * @returns how many there are.
 */
export async function replay(
  db: Pick<Database, "kysely" | "pool">,
  hookId: string,
  kind: ReplayKind,
  range: ReplayRange,
): Promise<number> {
  // Others are not about what waits for its first attempt, or succeeded at it.
  if (kind === "all") await unpackHook(db.pool, hookId, range);
  const candidates = candidatesOf(hookId, kind, range);
  const transaction = db.kysely.transaction();
  const { size, now } = await transaction.execute((tx) => countCandidates(tx, candidates));
  // Each is due a millisecond after the one before, the last one now: among the old rows and the new, this is the order.
  let dueFrom = now.getTime() - size;
  let after = "0";
  let count = 0;
  for (;;) {
    const done = await transaction.execute((tx) =>
      replayBatch(tx, hookId, candidates, after, new Date(dueFrom)),
    );
    count += done.count;
    if (done.seen < batch || done.last === null) return count;
    after = done.last;
    dueFrom += done.seen;
  }
}

/**
 * Events and deliveries in great number are to be joined by a hash. Before statistics are there, the planner would look
 * through all deliveries of the hook again for each event: half a minute for 12,000.
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

/** Events in their order, with their delivery to the hook where they have one. */
interface Found {
  readonly event_ids: readonly string[];
  readonly delivery_ids: readonly (string | null)[];
}

/** @param after the event after which the batch begins. */
async function findBatch(tx: Tx, candidates: RawBuilder<unknown>, after: string): Promise<Found> {
  await joinByHash.execute(tx);
  const { rows } = await sql<Found>`
    with found as materialized (
      select e.id, d.id as delivery_id ${candidates} and e.id > ${after}::bigint
      order by e.id limit ${batch} for key share of e
    )
    select coalesce(array_agg(id order by id), '{}') as event_ids,
      coalesce(array_agg(delivery_id order by id), '{}') as delivery_ids
    from found`.execute(tx);
  await sql`set local enable_nestloop = on`.execute(tx);
  return rows[0] ?? { event_ids: [], delivery_ids: [] };
}

interface BatchResult {
  /** Events looked at. */
  readonly seen: number;
  /** Deliveries made due. */
  readonly count: number;
  /** The last event's id. */
  readonly last: string | null;
}

/**
 * Locks come in one order everywhere: events, as deleting a recording takes them, deliveries, the hook. A delivery that
 * somebody else holds is being settled or sent again at this very moment and is left to them.
 */
async function replayBatch(
  tx: Tx,
  hookId: string,
  candidates: RawBuilder<unknown>,
  after: string,
  dueFrom: Date,
): Promise<BatchResult> {
  // Two replays at once would both find that an event has no delivery yet.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`replay ${hookId}`}, 0))`.execute(tx);
  await holdHook(tx, hookId);
  const { event_ids, delivery_ids } = await findBatch(tx, candidates, after);
  const { rows } = await sql<{ count: number }>`
    with placed as materialized (
      select event_id, delivery_id, least(now(), ${dueFrom}::timestamptz + interval '1 ms' * place) as due_at
      from unnest(${event_ids}::bigint[], ${delivery_ids}::bigint[])
        with ordinality f (event_id, delivery_id, place)
    ), made as (
      insert into deliveries (hook_id, event_id, event_type, subject_id, recording_id, due_at)
      select h.id, e.id, e.type, e.subject_id, e.recording_id, p.due_at
      from placed p join events e on e.id = p.event_id join hooks h on h.id = ${hookId}
      where p.delivery_id is null order by e.id
      returning 1
    ), held as materialized (
      select d.id, p.due_at from placed p join deliveries d on d.id = p.delivery_id
      where d.state <> 'withheld' for update of d skip locked
    ), reset as (
      update deliveries d set state = 'pending', due_at = held.due_at, attempts_before = d.attempts, settled_at = null
      from held where d.id = held.id
      returning 1
    )
    select ((select count(*) from made) + (select count(*) from reset))::integer as count`.execute(tx);
  const count = rows[0]?.count ?? 0;
  if (count > 0) await markDue(tx, hookId);
  return { seen: event_ids.length, count, last: event_ids.at(-1) ?? null };
}

/**
 * The events `e` of the hook's type in the range, with their delivery `d` to the hook. Those that wait to be handed on,
 * or were put into a batch a moment ago, get their delivery as usual; those delivered together have theirs. Whether the owner may hear of it is asked of every delivery before it is sent; here only of
 * events that have none.
 */
function candidatesOf(hookId: string, kind: ReplayKind, { since, until }: ReplayRange): RawBuilder<unknown> {
  const isMissing = sql.raw(`(d.id is null and ${mayHear})`);
  const isWanted = {
    failed: sql`d.state in ('exhausted', 'gone')`,
    undelivered: sql`(d.state in ('exhausted', 'gone') or ${isMissing})`,
    all: sql`(d.state <> 'withheld' or ${isMissing})`,
  }[kind];
  return sql`
    from hooks h
      join workspaces w on w.id = h.workspace_id
      join events e on e.workspace_id = h.workspace_id and e.type = h.hook_type
      left join deliveries d on d.event_id = e.id and d.hook_id = ${hookId}
    where h.id = ${hookId} and not exists (select 1 from waiting_events x where x.event_id = e.id)
      and e.id not in (select unnest(b.event_ids) from delivery_batches b where b.hook_id = ${hookId})
      -- A delivery is made after its event, give or take the time of a transaction.
      and not exists (
        select 1 from delivered_batches b cross join lateral unnest(b.event_ids) x (event_id)
        where b.hook_id = ${hookId} and b.created_at >= ${since}::timestamptz - interval '1 hour' and x.event_id = e.id)
      and e.occurred_at >= ${since} and e.occurred_at < ${until} and ${isWanted}`;
}
