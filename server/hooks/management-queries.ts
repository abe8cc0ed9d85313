import { sql } from "kysely";
import type pg from "pg";
import type { HookType } from "../../contract/hooks.ts";
import type { Principal } from "../access/principal.ts";
import type { Executor, Tx } from "../db/database.ts";
import { unpackDelivery } from "./batch-queries.ts";
import { mayHear } from "./fan-out.ts";
import type { HookRow } from "./queries.ts";

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
 * What waits for each hook, and what became of the last attempt. That is looked for among what was settled last, fifty
 * being written at a time, and among what waits: reading all attempts of thirty days would take seconds.
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
           order by settled_at desc limit 50)
         union all
         (select id, attempts from deliveries where hook_id = h.id and state = 'pending' and attempts > 0)
       ) d cross join lateral (
         select * from attempts where delivery_id = d.id and attempt = d.attempts offset 0) a
       order by a.started_at desc limit 1) a on true`,
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
  // Of batches the newest that fill a page: unnesting all of a long queue would take seconds. Their ids do not overlap.
  const { rows } = await sql<DeliveryRow>`
    select ${deliveryColumns} from (
      (select id, message_id, event_type, subject_id, state, attempts, created_at, due_at, settled_at
      from deliveries
      where hook_id = ${hookId} ${older("id")} ${state === undefined ? sql`` : sql`and state = ${state}`}
      order by id desc limit ${limit})
      union all
      (select x.id, x.message_id, e.type, e.subject_id, 'pending', 0, b.created_at, b.due_at, null
      from (
        select id from delivery_batches
        where hook_id = ${hookId} ${older("id")} and ${state ?? "pending"} = 'pending' order by id desc limit ${limit}
      ) newest join delivery_batches b on b.id = newest.id
        cross join lateral unnest(b.delivery_ids, b.message_ids, b.event_ids) x (id, message_id, event_id)
        join events e on e.id = x.event_id
      where true ${older("x.id")}
      order by x.id desc limit ${limit})
    ) d ${lastAttempt}
    order by d.id desc limit ${limit}`.execute(db);
  return rows;
}

/** A delivery with what was sent. */
export interface DeliveryContentRow extends DeliveryRow {
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
  const { rows } = await sql<DeliveryContentRow>`
    select ${deliveryColumns}, d.payload, ${sql.raw(mayHear)} as may_hear,
      ${scope === "workspace"} or h.scope = 'personal' or case
        when e.audience is not null then e.audience && ${sees}::uuid[]
        when e.recording_id is not null then exists (
          select 1 from recording_grants g
          where g.recording_id = e.recording_id and g.principal_id = any(${sees}::uuid[]))
        else true
      end as may_read
    from delivery_log d
      join hooks h on h.id = d.hook_id
      join workspaces w on w.id = h.workspace_id
      left join lateral (select ev.audience, d.recording_id from (select 1) one
        left join events ev on ev.id = d.event_id) e on true
      ${lastAttempt}
    where d.message_id = ${messageId} and d.hook_id = ${hookId}`.execute(db);
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
export async function findAttempts(db: Executor, deliveryId: string): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select attempt, started_at, duration_ms, status, error, answer, request_headers from attempts
    where delivery_id = ${deliveryId} order by attempt desc limit 100`.execute(db);
  return rows.reverse();
}

/** What keeps a delivery from being sent again: it is withheld, or of what it told nothing is left. */
export type ResetOutcome = "done" | "withheld" | "nothing left";

/** Makes a delivery due now, with a fresh schedule, if there is something to send. */
export async function resetDelivery(tx: Tx, hookId: string, messageId: string): Promise<ResetOutcome> {
  await unpackDelivery(tx, hookId, messageId);
  const { rows } = await sql<{ id: string; state: DeliveryState; has_content: boolean }>`
    select id, state, payload is not null or exists (select 1 from events e where e.id = deliveries.event_id) as has_content
    from deliveries where message_id = ${messageId} and hook_id = ${hookId} for update`.execute(tx);
  const [delivery] = rows;
  if (delivery === undefined || delivery.state === "withheld") return "withheld";
  if (!delivery.has_content) return "nothing left";
  await sql`
    update deliveries set state = 'pending', due_at = now(), attempts_before = attempts, settled_at = null
    where id = ${delivery.id}`.execute(tx);
  return "done";
}

/** Holds a hook against deletion, which takes its deliveries along, until the end of the transaction. */
export async function holdHook(tx: Tx, hookId: string): Promise<void> {
  await sql`select 1 from hooks where id = ${hookId} for key share`.execute(tx);
}

/** Adds a delivery that belongs to no event, ready to be sent. */
export async function insertTestDelivery(
  tx: Tx,
  hook: Pick<HookRow, "id">,
  messageId: string,
  payload: string,
): Promise<void> {
  await sql`
    insert into deliveries (message_id, hook_id, event_type, subject_id, payload)
    select ${messageId}, id, hook_type, id, ${payload} from hooks where id = ${hook.id} for key share`.execute(
    tx,
  );
}

/**
 * Has the hook looked at, also one whose receiver has asked for rest: somebody wants it now. After the change of deliveries and in its transaction: whoever lets go of the hook meanwhile
 * waits for the row and then sees them, or is done before and finds its mark replaced. The order, deliveries before
 * their hook, is that of fan-out and of settling, so none of them waits for another in a circle.
 */
export async function markDue(tx: Tx, hookId: string): Promise<void> {
  await sql`update hooks set next_due_at = least(next_due_at, now()), paused_until = null where id = ${hookId}`.execute(
    tx,
  );
}

/**
 * Ends the work of whoever sends to the hook by what it read before, soon: a worker that finds its hold gone begins
 * nothing more. Until that is certain, nobody else takes the hook.
 */
const recallWorker = sql`leased_by = null,
  leased_until = case when leased_until > now() then now() + interval '10 s' end`;

/** Switches a hook off. @returns whether it was on. */
export async function disableHookRow(tx: Tx, hookId: string, reason: string): Promise<boolean> {
  const { rows } = await sql`
    update hooks set disabled_at = now(), disabled_reason = ${reason}, ${recallWorker}
    where id = ${hookId} and disabled_at is null returning id`.execute(tx);
  return rows.length > 0;
}

/** Switches a hook on, as if it had never failed. @returns whether it was off. */
export async function enableHookRow(tx: Tx, hookId: string): Promise<boolean> {
  const { rows } = await sql`
    select id from hooks where id = ${hookId} and disabled_at is not null for no key update`.execute(tx);
  if (rows.length === 0) return false;
  // A statement of its own, to see what was settled until the lock was had.
  await sql`
    update hooks set disabled_at = null, disabled_reason = null, failing_since = null, paused_until = null,
      -- Of an app that is gone, it is now the person's own.
      oauth_grant_id = (select g.id from oauth_grants g where g.id = hooks.oauth_grant_id),
      next_due_at = parley_next_due(${hookId})
    where id = ${hookId}`.execute(tx);
  return true;
}

/** Replaces the secret. @param until how long the old one stays good; null: it ends now. */
export async function replaceSecret(
  tx: Tx,
  hookId: string,
  secret: Buffer,
  until: Date | null,
): Promise<boolean> {
  const { rows } = await sql`
    update hooks set secret = ${secret}, previous_secret = ${until === null ? sql`null` : sql.ref("secret")},
      previous_secret_until = ${until}, ${recallWorker}
    where id = ${hookId} returning id`.execute(tx);
  return rows.length > 0;
}
