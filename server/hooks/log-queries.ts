import { sql } from "kysely";
import type pg from "pg";
import type { HookType } from "../../contract/hooks.ts";
import type { Principal } from "../access/principal.ts";
import type { Executor } from "../db/database.ts";
import { mayHear } from "./fan-out.ts";

/** How a hook fares. */
export interface HookActivity {
  readonly id: string;
  readonly pending: number;
  /** Of the last attempt; all null before the first. */
  readonly started_at: Date | null;
  readonly status: number | null;
  readonly error: string | null;
}

/**
 * What waits for each hook, and what became of the last attempt. That is looked for among what was settled last, of what
 * was settled at one time the last fifty, and among what waits: reading all attempts of thirty days would take seconds.
 */
export async function findActivity(
  pool: pg.Pool,
  hookIds: readonly string[],
): Promise<Map<string, HookActivity>> {
  const { rows } = await pool.query<HookActivity>(
    `select h.id, a.started_at, a.status, a.error,
       ((select count(*) from deliveries d where d.hook_id = h.id and d.state = 'pending')
         + (select coalesce(sum(cardinality(b.delivery_ids)), 0) from delivery_batches b where b.hook_id = h.id)
       )::integer as pending
     from unnest($1::uuid[]) h (id)
     left join lateral (
       select a.started_at, a.status, a.error
       from (
         (select id, attempts from deliveries
           where hook_id = h.id and state not in ('pending', 'withheld') and attempts > 0
           order by settled_at desc, id desc limit 50)
         union all
         (select id, attempts from deliveries where hook_id = h.id and state = 'pending' and attempts > 0)
       ) d cross join lateral (
         select * from attempts where delivery_id = d.id and attempt = d.attempts offset 0) a
       union all
       select x.started_at, x.status, null
       from (select * from delivered_batches where hook_id = h.id order by last_id desc limit 5) b
         cross join lateral unnest(b.started_at, b.statuses) x (started_at, status)
       order by started_at desc limit 1) a on true`,
    [hookIds],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export type DeliveryState = "pending" | "delivered" | "exhausted" | "gone" | "withheld";

/** A delivery with what became of its last attempt. */
export interface DeliveryRow {
  /** Its place in the order of the hook's deliveries. */
  readonly id: string;
  /** The webhook-id. */
  readonly message_id: string;
  readonly event_type: HookType;
  readonly subject_id: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly created_at: Date;
  readonly due_at: Date;
  readonly settled_at: Date | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

const deliveryColumns = sql.raw(
  `d.id, d.message_id, d.event_type, d.subject_id, d.state, d.attempts, d.created_at, d.due_at, d.settled_at,
   a.status as last_status, a.error as last_error`,
);

// For each delivery by itself: joined as a whole, all attempts of all hooks would be read.
const lastAttempt = sql.raw(
  `left join lateral (
     select * from attempts where delivery_id = d.id and attempt = d.attempts offset 0) a on true`,
);

/** One page of a hook's deliveries, newest first. @param page.before the id after which the last page ended. */
export async function findDeliveries(
  db: Executor,
  hookId: string,
  page: {
    readonly state: DeliveryState | undefined;
    readonly before: string | null;
    readonly limit: number;
  },
): Promise<DeliveryRow[]> {
  const { before, state, limit } = page;
  const older = (id: string) => (before === null ? sql`` : sql`and ${sql.ref(id)} < ${before}::bigint`);
  // Of batches the newest that fill a page: unnesting all of them would take seconds. Those of a queue do not overlap; of
  // those that are delivered, the ones with the greatest last ids fill it, besides those that reach beyond its end.
  const { rows } = await sql<DeliveryRow>`
    select * from (
      (select ${deliveryColumns} from (
        select * from deliveries
        where hook_id = ${hookId} ${older("id")} ${state === undefined ? sql`` : sql`and state = ${state}`}
        order by id desc limit ${limit}) d ${lastAttempt})
      union all
      (select x.id, x.message_id, e.type, e.subject_id, 'pending', 0, b.created_at, b.due_at, null, null, null
      from (
        select id from delivery_batches
        where hook_id = ${hookId} ${older("id")} and ${state ?? "pending"} = 'pending' order by id desc limit ${limit}
      ) newest join delivery_batches b on b.id = newest.id
        cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids) x (id, message_id, event_id)
        join events e on e.id = x.event_id
      where true ${older("x.id")}
      order by x.id desc limit ${limit})
      union all
      (select x.id, x.message_id, e.type, e.subject_id, 'delivered', 1, x.created_at, x.due_at, x.settled_at, x.status, null
      from (
        select x.*, b.created_at, b.due_at, b.settled_at
        from (
          select id from delivered_batches
          where hook_id = ${hookId} ${older("id")} and ${state ?? "delivered"} = 'delivered'
          order by last_id desc
          limit ${limit} + (${
            before === null
              ? sql`0`
              : sql`
            select count(*) from delivered_batches
            where hook_id = ${hookId} and id < ${before}::bigint and last_id >= ${before}::bigint`
          })
        ) newest join delivered_batches b on b.id = newest.id
          cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids, b.statuses)
            x (id, message_id, event_id, status)
        where true ${older("x.id")}
        order by x.id desc limit ${limit}
      ) x join events e on e.id = x.event_id)
    ) d (id, message_id, event_type, subject_id, state, attempts, created_at, due_at, settled_at, last_status, last_error)
    order by id desc limit ${limit}`.execute(db);
  return rows;
}

/** A delivery with what was sent. */
export interface DeliveryContentRow extends DeliveryRow {
  readonly hook_id: string;
  readonly payload: string | null;
  /** Whether the hook's owner may hear of it now. */
  readonly may_hear: boolean;
  /** Whether who asks may read it: an admin looks after hooks of the workspace, and need not see every recording. */
  readonly may_read: boolean;
}

export async function findDelivery(
  db: Executor,
  hookId: string,
  messageId: string,
  { scope, sees }: Pick<Principal, "scope" | "sees">,
): Promise<DeliveryContentRow | undefined> {
  // In each place by itself: the view of all of them would take every batch apart.
  const { rows } = await sql<DeliveryContentRow>`
    select d.*, ${sql.raw(mayHear)} as may_hear,
      ${scope === "workspace"} or h.scope = 'personal' or case
        when e.audience is not null then e.audience && ${sees}::uuid[]
        when e.recording_id is not null then exists (
          select 1 from recording_grants g
          where g.recording_id = e.recording_id and g.principal_id = any(${sees}::uuid[]))
        else true
      end as may_read
    from (
      select ${deliveryColumns}, d.hook_id, d.event_id, d.recording_id, d.payload
      from deliveries d ${lastAttempt}
      where d.message_id = ${messageId} and d.hook_id = ${hookId}
      union all
      select x.id, x.message_id, ev.type, ev.subject_id, 'pending', 0, b.created_at, b.due_at, null, null, null,
        b.hook_id, ev.id, ev.recording_id, null
      from delivery_batches b
        cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids) x (id, message_id, event_id)
        join events ev on ev.id = x.event_id
      where b.hook_id = ${hookId} and ${messageId}::uuid = any(b.message_ids) and x.message_id = ${messageId}
      union all
      select b.delivery_ids[n], b.message_ids[n], ev.type, ev.subject_id, 'delivered', 1, b.created_at, b.due_at,
        b.settled_at, b.statuses[n], null, b.hook_id, ev.id, ev.recording_id, b.payloads[n]
      from delivered_batches b
        cross join lateral array_position(b.message_ids, ${messageId}::uuid) n
        join events ev on ev.id = b.event_ids[n]
      where b.hook_id = ${hookId} and ${messageId}::uuid = any(b.message_ids)
    ) d
      join hooks h on h.id = d.hook_id
      join workspaces w on w.id = h.workspace_id
      left join lateral (select ev.audience, d.recording_id from (select 1) one
        left join events ev on ev.id = d.event_id) e on true`.execute(db);
  return rows[0];
}

export interface AttemptRow {
  readonly attempt: number;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly request_headers: Record<string, string>;
}

/** The last hundred attempts of a delivery, in order. */
export async function findAttempts(
  db: Executor,
  { hook_id: hookId, id }: Pick<DeliveryContentRow, "hook_id" | "id">,
): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select attempt, started_at, duration_ms, status, error, answer, request_headers from attempts
    where delivery_id = ${id}
    union all
    select 1, b.started_at[n], b.duration_ms[n], b.statuses[n], null, b.answers[n],
      parley_request_headers(b.message_ids[n], b.signatures[n], b.started_at[n])
    from delivered_batches b cross join lateral array_position(b.delivery_ids, ${id}::bigint) n
    where b.hook_id = ${hookId} and b.id <= ${id} and b.last_id >= ${id} and n is not null
    order by attempt desc limit 100`.execute(db);
  return rows.reverse();
}
