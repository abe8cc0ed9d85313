import type pg from "pg";
import type { Database } from "../db/database.ts";

/** Any constant will do, as long as every process uses the same. */
const fanOutLock = 7_271_539_002;

/** Deliveries made in one transaction, which others may have to wait for. */
const mostDeliveries = 5000;

/** Events handed on in one transaction. */
const batch = 500;

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
 * mark on the event and the hint to the hook are one transaction.
 * @returns how many events were handed on; null when another process is at it.
 */
export async function fanOut({ pool }: Pick<Database, "pool">): Promise<number | null> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const count = await fanOutWithin(client);
    await client.query("commit");
    client.release();
    return count;
  } catch (error) {
    // A connection whose transaction may still be open is not given back.
    client.release(error as Error);
    throw error;
  }
}

async function fanOutWithin(client: pg.PoolClient): Promise<number | null> {
  const { rows: locks } = await client.query<{ locked: boolean }>(
    "select pg_try_advisory_xact_lock($1) as locked",
    [fanOutLock],
  );
  if (!locks[0]?.locked) return null;
  const { rows: events } = await client.query<{ id: string; hooks: string }>({
    name: "events_waiting",
    text: `with waiting as (
        select id, workspace_id, type from events where fanned_out_at is null order by id limit $1 for update
      ), listening as (
        select workspace_id, hook_type, count(*) as hooks from hooks
        where disabled_at is null and workspace_id in (select workspace_id from waiting)
        group by workspace_id, hook_type
      )
      select w.id, coalesce(l.hooks, 0) as hooks
      from waiting w left join listening l on l.workspace_id = w.workspace_id and l.hook_type = w.type
      order by w.id`,
    values: [batch],
  });
  if (events.length === 0) return 0;
  const ids = takeWhileFew(events);
  await client.query({
    name: "fan_out",
    text: `with made as (
        insert into deliveries (message_id, hook_id, event_id, event_type, subject_id, recording_id, due_at)
        -- Not now(): that is when the transaction began, which may be before another's whose events come first.
        select gen_random_uuid(), h.id, e.id, e.type, e.subject_id, e.recording_id, statement_timestamp()
        from events e
          join hooks h on h.workspace_id = e.workspace_id and h.hook_type = e.type
          join workspaces w on w.id = e.workspace_id
        where e.id = any($1::bigint[]) and h.disabled_at is null and h.inserted_at <= e.occurred_at and ${mayHear}
        order by e.id, h.id
        returning hook_id
      ), due as (
        select id from hooks where id in (select hook_id from made) order by id for no key update
      )
      update hooks set next_due_at = least(next_due_at, now()) where id in (select id from due)`,
    values: [ids],
  });
  await client.query({
    name: "events_fanned_out",
    text: `update events e set fanned_out_at = now(), feed_id = f.place
      from (select id, nextval('events_feed') as place
        from (select unnest($1::bigint[]) as id order by 1) ordered) f
      where e.id = f.id`,
    values: [ids],
  });
  return ids.length;
}

/** As many events from the beginning as make no more deliveries than one transaction should; at least one. */
function takeWhileFew(events: readonly { id: string; hooks: string }[]): string[] {
  let deliveries = 0;
  const end = events.findIndex(({ hooks }, index) => {
    deliveries += Number(hooks);
    return index > 0 && deliveries > mostDeliveries;
  });
  return (end === -1 ? events : events.slice(0, end)).map(({ id }) => id);
}
