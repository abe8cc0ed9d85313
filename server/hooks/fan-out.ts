import type pg from "pg";
import { bigintArray } from "../db/binary-array.ts";
import type { Database } from "../db/database.ts";

/** Any constant will do, as long as every process uses the same. */
const fanOutLock = 7_271_539_002;

/** Deliveries made in one transaction, which others may have to wait for. */
const mostDeliveries = 5000;

/** Events handed on in one transaction. */
const batch = 1000;

/** With so many deliveries of one hook at a time they are kept as batches until they are settled. */
const leastPacked = 20;

/** Deliveries of one batch: as many as fit a page of the database. */
const mostPacked = 200;

/** Of a bigint. */
const greatestId = "9223372036854775807";

/**
 * Events that were seen waiting, by their ids, in batches. What was handed on leaves traces that a search from the beginning goes through.
 * Whatever commits later with an id among these, and all that follows it for the same subject, is found after them: the
 * latter has an id above `upTo`.
 */
export interface WaitingEvents {
  readonly after: string;
  readonly upTo: string;
}

/**
 * Who may hear of an event `e`, for a hook `h` of workspace `w`: a workspace hook everything, a personal hook what its
 * owner may see at this moment. Where nothing is left to ask, the event says itself who may hear of it.
 */
export const mayHear = `(h.scope = 'workspace' or exists (
  select 1 from users u where u.id = h.created_by and u.deactivated_at is null and (
    case
      when e.audience is not null then e.audience && parley_principals(u.id, w.members_id)
      when e.recording_id is not null then exists (
        select 1 from recording_grants g where g.recording_id = e.recording_id
          and g.principal_id = any(parley_principals(u.id, w.members_id)))
      else true
    end)))`;

/**
 * Makes deliveries of the events that wait, in the order of their ids: an event gets its id under the lock of its
 * subject, so those of one subject are in the order of its changes. One process at a time does this; the deliveries, the
 * places in the feed and the hint to the hook are one transaction.
 * @param rest what an earlier call has left.
 * @returns how many events were handed on, and what is left of those that waited; null when another process is at it.
 */
export async function fanOut(
  { pool }: Pick<Database, "pool">,
  rest: WaitingEvents | null = null,
): Promise<{ readonly count: number; readonly rest: WaitingEvents | null } | null> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const done = await fanOutWithin(client, rest);
    await client.query("commit");
    client.release();
    return done;
  } catch (error) {
    // A connection whose transaction may still be open is not given back.
    client.release(error as Error);
    throw error;
  }
}

async function fanOutWithin(
  client: pg.PoolClient,
  rest: WaitingEvents | null,
): Promise<{ count: number; rest: WaitingEvents | null } | null> {
  const { rows: locks } = await client.query<{ locked: boolean }>({
    name: "fan_out_lock",
    text: "select pg_try_advisory_xact_lock($1) as locked",
    values: [fanOutLock],
  });
  if (!locks[0]?.locked) return null;
  const { rows: found } = await client.query<{ ids: string | null; hooks: string | null; up_to: string }>({
    name: "events_waiting",
    text: `with waiting as materialized (
        select event_id from waiting_events where event_id > $2::bigint and event_id <= $3::bigint
        order by event_id limit $1
      ), found as materialized (
        -- Locked, so that what is being deleted is either gone, or waits for its deliveries to be seen.
        select e.id, e.workspace_id, e.type from waiting w join events e on e.id = w.event_id
        order by e.id for key share of e
      ), listening as (
        select workspace_id, hook_type, count(*) as hooks from hooks
        where disabled_at is null and workspace_id in (select workspace_id from found)
        group by workspace_id, hook_type
      )
      -- As two texts: a thousand rows take longer to read.
      select string_agg(w.event_id::text, ',' order by w.event_id) as ids,
        string_agg(coalesce(l.hooks, 0)::text, ',' order by w.event_id) as hooks,
        least($3::bigint, (select max(event_id) from waiting_events)) as up_to
      from waiting w left join found f on f.id = w.event_id
        left join listening l on l.workspace_id = f.workspace_id and l.hook_type = f.type`,
    values: [batch, rest?.after ?? "0", rest?.upTo ?? greatestId],
  });
  const waiting = found[0];
  if (!waiting?.ids || !waiting.hooks) return { count: 0, rest: null };
  const upTo = waiting.up_to;
  const ids = takeWhileFew(waiting.ids.split(","), waiting.hooks.split(","));
  const last = ids.at(-1) as string;
  const values = [bigintArray(ids)];
  await client.query({
    name: "fan_out",
    text: `with listening as materialized (
        -- Held against deletion, which takes the deliveries of a hook along.
        select *, failing_since is null and not exists (
          select 1 from hooks other where other.workspace_id = hooks.workspace_id and other.hook_url = hooks.hook_url
            and other.id <> hooks.id) as is_packable
        from hooks where disabled_at is null
          and (workspace_id, hook_type) in (select workspace_id, type from events where id = any($1::bigint[]))
        order by id for key share
      ), heard as materialized (
        select h.id as hook_id, h.is_packable, e.id, e.type, e.subject_id, e.recording_id
        from events e
          join listening h on h.workspace_id = e.workspace_id and h.hook_type = e.type
          join workspaces w on w.id = e.workspace_id
        where e.id = any($1::bigint[]) and h.inserted_at <= e.occurred_at and ${mayHear}
      ), many as materialized (
        select hook_id, array_agg(id order by id) as event_ids from heard where is_packable
        group by hook_id having count(*) >= ${leastPacked}
      ), made as (
        insert into deliveries (hook_id, event_id, event_type, subject_id, recording_id, due_at)
        -- Not now(): that is when the transaction began, which may be before another's whose events come first.
        select hook_id, id, type, subject_id, recording_id, statement_timestamp()
        from heard where hook_id not in (select hook_id from many)
        order by id, hook_id
        returning hook_id
      ), packed as (
        insert into delivery_batches (id, hook_id, due_at, event_ids, delivery_ids, message_ids)
        select ids.delivery_ids[1], part.hook_id, statement_timestamp(), part.event_ids, ids.delivery_ids, ids.message_ids
        from (
          select hook_id, event_ids[n : n + ${mostPacked - 1}] as event_ids
          from many, generate_series(1, cardinality(event_ids), ${mostPacked}) n order by hook_id, n
        ) part cross join lateral (
          select array_agg(nextval('deliveries_id_seq')) as delivery_ids, array_agg(parley_message_id()) as message_ids
          from unnest(part.event_ids)
          -- Depends on the hook: what depends on the events alone may be made once for all hooks that hear of them.
          where part.hook_id is not null
        ) ids
        returning hook_id
      ), due as (
        select id from hooks where id in (select hook_id from made union all select hook_id from packed)
        order by id for no key update
      )
      update hooks set next_due_at = least(next_due_at, now()) where id in (select id from due)`,
    values,
  });
  await client.query({
    name: "events_fanned_out",
    text: `with over as (
        delete from waiting_events where event_id = any($1::bigint[])
      )
      insert into feed_places (event_id, workspace_id, place)
      select id, workspace_id, nextval('events_feed')
      from (select id, workspace_id from events where id = any($1::bigint[]) order by id) ordered`,
    values,
  });
  return { count: ids.length, rest: last === upTo ? null : { after: last, upTo } };
}

/** As many events from the beginning as make no more deliveries than one transaction should; at least one. */
function takeWhileFew(ids: readonly string[], hooks: readonly string[]): readonly string[] {
  let deliveries = 0;
  const end = hooks.findIndex((count, index) => {
    deliveries += Number(count);
    return index > 0 && deliveries > mostDeliveries;
  });
  return end === -1 ? ids : ids.slice(0, end);
}
