import { sql } from "kysely";
import type pg from "pg";
import type { HookType } from "../../../../contract/webhooks/hook-types.ts";
import type { DeliveryState } from "../../../people/events/delivery-states.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Executor } from "../../../platform/db/database.ts";
import { canReceive } from "../deliveries/can-receive.ts";

/** The pending deliveries and the last attempt of a hook. */
export interface HookActivity {
  readonly id: string;
  readonly pending: number;
  /** Of the last attempt; all null before the first. */
  readonly started_at: Date | null;
  readonly status: number | null;
  readonly error: string | null;
}

/**
 * Counts what is pending for each hook and finds its last attempt: it is among the fifty results saved last, as many as are
 * saved at the same time, or among the pending deliveries. Reading all attempts of thirty days would take seconds.
 */
export async function findActivity(
  pool: pg.Pool,
  hookIds: readonly string[],
): Promise<Map<string, HookActivity>> {
  const { rows } = await pool.query<HookActivity>(
    `select h.id, a.started_at, a.status, a.error,
       (select count(*)::integer from deliveries d where d.hook_id = h.id and d.state = 'pending') as pending
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
       order by started_at desc limit 1) a on true`,
    [hookIds],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** A delivery with the result of its last attempt. */
export interface DeliveryRow {
  /** In the order of the hook's deliveries. */
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

// One lookup for each delivery: a plain join would read all attempts of all hooks.
const lastAttempt = sql.raw(
  `left join lateral (
     select * from attempts where delivery_id = d.id and attempt = d.attempts offset 0) a on true`,
);

/** One page of a hook's deliveries, newest first. @param page.before the last id of the previous page. */
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
  const { rows } = await sql<DeliveryRow>`
    select ${deliveryColumns} from (
      select * from deliveries
      where hook_id = ${hookId} ${before === null ? sql`` : sql`and id < ${before}::bigint`}
        ${state === undefined ? sql`` : sql`and state = ${sql.lit(state)}`}
      order by id desc limit ${limit}) d ${lastAttempt}
    order by d.id desc`.execute(db);
  return rows;
}

/** A delivery with its payload. */
export interface DeliveryContentRow extends DeliveryRow {
  readonly payload: string | null;
  /** Whether the hook's owner can see the subject now. */
  readonly can_receive: boolean;
  /** Whether the caller may read it: an admin manages the workspace's hooks without seeing every recording. */
  readonly may_read: boolean;
}

export async function findDelivery(
  db: Executor,
  hookId: string,
  messageId: string,
  { scope, sees }: Pick<Principal, "scope" | "sees">,
): Promise<DeliveryContentRow | undefined> {
  const { rows } = await sql<DeliveryContentRow>`
    select ${deliveryColumns}, d.payload, ${sql.raw(canReceive("d"))} as can_receive,
      ${scope === "workspace"} or h.scope = 'personal' or case
        when e.audience is not null then e.audience && ${sees}::uuid[]
        when d.recording_id is not null then exists (
          select 1 from recording_grants g
          where g.recording_id = d.recording_id and g.principal_id = any(${sees}::uuid[]))
        else true
      end as may_read
    from deliveries d ${lastAttempt}
      join hooks h on h.id = d.hook_id
      join workspaces w on w.id = h.workspace_id
      left join events e on e.id = d.event_id
    where d.message_id = ${messageId} and d.hook_id = ${hookId}`.execute(db);
  return rows[0];
}

export interface AttemptRow {
  readonly attempt: number;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly request_headers: Record<string, string>;
}

/** The last hundred attempts of a delivery, in order. */
export async function findAttempts(db: Executor, deliveryId: string): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select attempt, started_at, duration_ms, status, error, response, request_headers from attempts
    where delivery_id = ${deliveryId}
    order by attempt desc limit 100`.execute(db);
  return rows.reverse();
}
