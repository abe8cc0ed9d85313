import type pg from "pg";
import type { Database } from "../../../platform/db/database.ts";
import { isOn } from "../api/queries.ts";
import { canReceive } from "./can-receive.ts";

/** The key of an advisory lock; any constant that all processes share. */
const fanOutLock = 7_271_539_002;

/** Events processed, and about how many deliveries created, in one transaction, which others may have to wait for. */
const maxEvents = 1000;
const maxDeliveries = 5000;

/** What a fan-out did. */
interface FanOut {
  /** How many events were processed. */
  readonly events: number;
  /** Whether a hook got a delivery. */
  readonly hasDeliveries: boolean;
}

const nothing: FanOut = { events: 0, hasDeliveries: false };

/**
 * Creates deliveries for the events that wait, in the order of their ids: an event gets its id under the lock of its
 * subject, so those of one subject are in the order of its changes. One process at a time does this. The deliveries, the
 * positions in the feed and the due times of hooks are one transaction.
 * @returns what was done; more events may wait unless there were none, as there are while another process does this.
 */
export async function fanOut({ pool }: Pick<Database, "pool">, addMore?: AddDeliveries): Promise<FanOut> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const done = await fanOutWithin(client, addMore);
    await client.query("commit");
    client.release();
    return done;
  } catch (error) {
    // A connection whose transaction may still be open is closed instead of returned to the pool.
    client.release(error as Error);
    throw error;
  }
}

/** Which other hooks get a delivery of which events, decided in the transaction of the fan-out. */
export type AddDeliveries = (
  client: pg.PoolClient,
  eventIds: readonly string[],
) => Promise<readonly { readonly hook_id: string; readonly event_id: string }[]>;

async function fanOutWithin(client: pg.PoolClient, addMore?: AddDeliveries): Promise<FanOut> {
  const { rows: locks } = await client.query<{ locked: boolean }>({
    name: "fan_out_lock",
    text: "select pg_try_advisory_xact_lock($1) as locked",
    values: [fanOutLock],
  });
  if (!locks[0]?.locked) return nothing;
  const { rows: found } = await client.query<{ ids: string[] | null; webhooks: boolean; others: boolean }>({
    name: "events_waiting",
    text: `with waiting as materialized (
        select event_id from waiting_events order by event_id limit ${maxEvents}
      ), found as materialized (
        -- Locked: an event that is being deleted is either gone, or its deletion waits for its deliveries.
        -- Lateral, or PostgreSQL would read all events of a small table, as its statistics expect many to wait.
        select e.* from waiting w cross join lateral (
          select id, workspace_id, type from events where id = w.event_id for key share) e
      ), listening as (
        select workspace_id, hook_type, count(*) as hooks from hooks
        where ${isOn("hooks")} and workspace_id in (select workspace_id from found)
        group by workspace_id, hook_type
      ), counted as (
        select w.event_id, sum(coalesce(l.hooks, 0)) over before as deliveries, row_number() over before as number
        from waiting w left join found f on f.id = w.event_id
          left join listening l on l.workspace_id = f.workspace_id and l.hook_type = f.type
        window before as (order by w.event_id)
      )
      select array_agg(event_id) as ids, max(deliveries) > 0 as webhooks,
        exists (select 1 from listening where hook_type = 'delivery') as others
      from counted where deliveries <= ${maxDeliveries} or number = 1`,
  });
  const { ids, webhooks, others } = found[0] ?? { ids: null, webhooks: false, others: false };
  if (ids === null) return nothing;
  // Most workspaces have no hooks, and planning these statements takes longer than everything else here.
  const created = webhooks ? await createDeliveries(client, ids) : [];
  const added = others ? ((await addMore?.(client, ids)) ?? []) : [];
  if (created.length + added.length > 0) await addDeliveries(client, created, added);
  await client.query({
    name: "events_fanned_out",
    text: `with processed as (
        delete from waiting_events where event_id = any($1::bigint[])
      )
      insert into feed_positions (event_id, workspace_id, position)
      select id, workspace_id, nextval('feed_positions_position_seq')
      from (select id, workspace_id from events where id = any($1::bigint[]) order by id) ordered`,
    values: [ids],
  });
  return { events: ids.length, hasDeliveries: created.length + added.length > 0 };
}

/** Adds the deliveries of other hooks, and makes all hooks that got one due. */
async function addDeliveries(
  client: pg.PoolClient,
  created: readonly { readonly hook_id: string }[],
  added: readonly { readonly hook_id: string; readonly event_id: string }[],
): Promise<void> {
  await client.query({
    name: "wake_hooks",
    text: `with added as (
        insert into deliveries (hook_id, event_id, event_type, subject_id, recording_id, due_at)
        select a.hook_id, e.id, e.type, e.subject_id, e.recording_id, statement_timestamp()
        from unnest($2::uuid[], $3::bigint[]) a (hook_id, event_id) join events e on e.id = a.event_id
        order by e.id, a.hook_id
      ), due as (
        select id from hooks where id = any($1::uuid[] || $2::uuid[]) order by id for no key update
      )
      update hooks set next_due_at = least(next_due_at, now()) where id in (select id from due)`,
    values: [
      created.map(({ hook_id }) => hook_id),
      added.map(({ hook_id }) => hook_id),
      added.map(({ event_id }) => event_id),
    ],
  });
}

/** Creates the deliveries of webhooks. @returns the hooks that got one. */
async function createDeliveries(
  client: pg.PoolClient,
  ids: readonly string[],
): Promise<{ hook_id: string }[]> {
  const { rows } = await client.query<{ hook_id: string }>({
    name: "fan_out",
    text: `with listening as materialized (
        -- Locked against deletion, which deletes the deliveries of a hook.
        select * from hooks where ${isOn("hooks")}
          and (workspace_id, hook_type) in (select workspace_id, type from events where id = any($1::bigint[]))
        order by id for key share
      ), created as (
        insert into deliveries (hook_id, event_id, event_type, subject_id, recording_id, due_at)
        -- Not now(), the start of this transaction, which may be before another one's whose events come first.
        select h.id, e.id, e.type, e.subject_id, e.recording_id, statement_timestamp()
        from events e
          join listening h on h.workspace_id = e.workspace_id and h.hook_type = e.type
          join workspaces w on w.id = e.workspace_id
        where e.id = any($1::bigint[]) and h.inserted_at <= e.occurred_at and ${canReceive("e")}
        order by e.id, h.id
        returning hook_id
      )
      select distinct hook_id from created`,
    values: [ids],
  });
  return rows;
}
