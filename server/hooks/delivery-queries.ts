import type pg from "pg";
import type { HookType } from "../../contract/hooks.ts";
import { mayHear } from "./fan-out.ts";
import type { HookRow } from "./queries.ts";

/** How long a worker's hold on a hook is believed without a sign of life. */
export const leaseSeconds = 10;

/** A delivery that is due, with what is needed to render and send it. */
export interface DueDelivery {
  readonly id: string;
  readonly message_id: string;
  readonly event_type: HookType;
  readonly subject_id: string;
  readonly recording_id: string | null;
  /** As it was sent before; null before the first attempt. */
  readonly payload: string | null;
  readonly attempts: number;
  /** Of these, those made before it was last asked for anew. */
  readonly attempts_before: number;
  /** Null: the event is too old to be kept. */
  readonly data: Record<string, unknown> | null;
  /** Whether the hook's owner may hear of it now. */
  readonly may_hear: boolean;
}

/** Whether events wait to be handed on, or hooks to be served: one look, where finding out by doing takes six. */
export async function isAnythingDue(pool: pg.Pool, now: Date): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>({
    name: "is_anything_due",
    text: `select exists (select 1 from events where fanned_out_at is null) or exists (
        select 1 from hooks where next_due_at <= $1 and disabled_at is null
          and (leased_until is null or leased_until < now())) as due`,
    values: [now],
  });
  return rows[0]?.due ?? false;
}

/**
 * Takes hold of hooks for which something is due and nobody is at work.
 * @param options.failing hooks whose last attempt failed, or the others.
 * @param options.except hooks that this process serves already.
 * @returns the hooks; `leased_by` is the token of this very hold.
 */
export async function leaseHooks(
  pool: pg.Pool,
  options: { failing: boolean; limit: number; now: Date; except: readonly string[] },
): Promise<HookRow[]> {
  const { rows } = await pool.query<HookRow>({
    name: `lease_hooks_${options.failing}`,
    text: `update hooks set leased_by = gen_random_uuid(), leased_until = now() + make_interval(secs => ${leaseSeconds})
      where id in (
        select id from hooks
        where next_due_at <= $1 and disabled_at is null and (leased_until is null or leased_until < now())
          and failing_since is ${options.failing ? "not null" : "null"}
        and id <> all($3::uuid[])
        order by next_due_at limit $2 for update skip locked)
      returning *`,
    values: [options.now, options.limit, options.except],
  });
  return rows;
}

/** Shows that the holders live. @returns the tokens of the holds that still are. */
export async function renewLeases(pool: pg.Pool, tokens: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ leased_by: string }>(
    `update hooks set leased_until = now() + make_interval(secs => ${leaseSeconds})
     where id in (select id from hooks where leased_by = any($1::uuid[]) order by id for no key update)
       and leased_by = any($1::uuid[]) returning leased_by`,
    [tokens],
  );
  return new Set(rows.map((row) => row.leased_by));
}

/** Lets go of a hook. @param notBefore when to look at it again at the earliest. */
export async function releaseHook(
  pool: pg.Pool,
  hookId: string,
  token: string,
  notBefore: Date | null,
): Promise<void> {
  await pool.query({
    name: "release_hook",
    text: "select parley_release_hook($1, $2, $3)",
    values: [hookId, token, notBefore],
  });
}

/** Frees every hook: for a process that knows it is the only worker. */
export async function releaseAllHooks(pool: pg.Pool): Promise<void> {
  await pool.query("update hooks set leased_by = null, leased_until = null where leased_until is not null");
}

/** Has hooks looked at again for which something waits that nobody was told of. Costs little; finds nothing unless a row was changed by hand. */
export async function findForgottenHooks(pool: pg.Pool): Promise<void> {
  await pool.query(`update hooks set next_due_at = now()
    where id in (
      select id from hooks h where next_due_at is null and exists (
        select 1 from deliveries d where d.hook_id = h.id and d.state = 'pending')
      order by id for no key update)`);
}

/** Whether a delivery that was prepared a while ago may still be sent. */
export async function mayStillSend(pool: pg.Pool, hookId: string, deliveryId: string): Promise<boolean> {
  const { rows } = await pool.query({
    name: "may_still_send",
    text: `select 1
      from deliveries d
        join hooks h on h.id = d.hook_id and h.disabled_at is null
        join workspaces w on w.id = h.workspace_id
        left join lateral (select ev.audience, d.recording_id from (select 1) one
          left join events ev on ev.id = d.event_id) e on true
      where d.hook_id = $1 and d.id = $2 and d.state = 'pending' and ${mayHear}`,
    values: [hookId, deliveryId],
  });
  return rows.length > 0;
}

/** Whether anything is due for a hook, also what `findDue` holds back. */
export async function hasDue(pool: pg.Pool, hookId: string, now: Date): Promise<boolean> {
  const { rows } = await pool.query({
    name: "has_due",
    text: "select 1 from deliveries where hook_id = $1 and state = 'pending' and due_at <= $2 limit 1",
    values: [hookId, now],
  });
  return rows.length > 0;
}

/**
 * What is due for a hook, first attempts in the order of events. A first attempt waits while another hook of the same
 * address, which is not failing, has yet to try an earlier event of the same subject: a receiver with a hook for each
 * type sees them in order.
 * @param options.except what is being sent, or written down, and therefore still looks due.
 */
export async function findDue(
  pool: pg.Pool,
  hookId: string,
  { now, except, limit }: { now: Date; except: readonly string[]; limit: number },
): Promise<DueDelivery[]> {
  const { rows } = await pool.query<DueDelivery>({
    name: "due_deliveries",
    text: `select d.id, d.message_id, d.event_type, d.subject_id, d.recording_id, d.payload, d.attempts, d.attempts_before,
        e.data, ${mayHear} as may_hear
      from deliveries d
        join hooks h on h.id = d.hook_id
        join workspaces w on w.id = h.workspace_id
        left join lateral (select ev.data, ev.audience, d.recording_id from (select 1) one
          left join events ev on ev.id = d.event_id) e on true
      where d.hook_id = $1 and d.state = 'pending' and d.due_at <= $2 and d.id <> all($4::bigint[])
        and (d.attempts > 0 or not exists (
          select 1 from hooks h2 join deliveries d2 on d2.hook_id = h2.id
          where h2.workspace_id = h.workspace_id and h2.hook_url = h.hook_url and h2.id <> h.id
            and h2.disabled_at is null and h2.failing_since is null
            and d2.state = 'pending' and d2.attempts = 0
            and d2.subject_id = d.subject_id and d2.event_id < d.event_id))
      order by d.due_at, d.id limit $3`,
    values: [hookId, now, limit, except],
  });
  return rows;
}

/** How an attempt ended, or that none was made. */
export interface Settlement {
  readonly id: string;
  readonly state: "pending" | "delivered" | "exhausted" | "gone" | "withheld";
  readonly due_at: Date | null;
  readonly payload: string | null;
  /** Null: nothing was sent. */
  readonly attempt: {
    readonly number: number;
    readonly started_at: Date;
    readonly duration_ms: number;
    readonly status: number | null;
    readonly error: string | null;
    readonly answer: string;
    readonly request_headers: Readonly<Record<string, string>>;
  } | null;
}

/** What the attempts mean for the hook. */
export interface HookVerdict {
  /** Undefined: as it was. */
  readonly failingSince?: Date | null;
  readonly disable?: string;
}

/** Writes down how attempts ended, in one transaction with what they mean for the hook. */
export async function settle(
  pool: pg.Pool,
  hookId: string,
  settlements: readonly Settlement[],
  verdict: HookVerdict,
  now: Date,
): Promise<void> {
  await pool.query({
    name: "settle_deliveries",
    text: `with s as (
        select * from json_to_recordset($2::json) as s (
          id bigint, state text, due_at timestamptz, payload text, number integer, started_at timestamptz,
          duration_ms integer, status integer, error text, answer text, request_headers jsonb)
      ), held as (
        -- In one order everywhere, so that nobody waits for each other. Found by their ids alone, here and below: by hook
        -- and state an index would be read that holds the whole backlog.
        select s.* from s join deliveries d on d.id = s.id order by d.id for no key update of d
      ), changed as (
        update deliveries d set state = h.state, attempts = coalesce(h.number, d.attempts),
          due_at = coalesce(h.due_at, d.due_at), payload = coalesce(h.payload, d.payload),
          settled_at = case when h.state = 'pending' then null else $3::timestamptz end
        from held h where d.id = h.id and d.settled_at is null
      ), logged as (
        insert into delivery_attempts
          (delivery_id, attempt, started_at, duration_ms, status, error, answer, request_headers)
        select id, number, started_at, duration_ms, status, error, answer, request_headers
        from held where number is not null
        on conflict (delivery_id, attempt) do nothing
      )
      update hooks set
        failing_since = case when $4 then $5::timestamptz else failing_since end,
        disabled_at = case when $6::text is null then disabled_at else $3::timestamptz end,
        disabled_reason = coalesce($6::text, disabled_reason)
      where id = $1 and ($4 or $6::text is not null)`,
    values: [
      hookId,
      JSON.stringify(settlements.map(({ attempt, ...rest }) => ({ ...rest, ...attempt }))),
      now,
      verdict.failingSince !== undefined,
      verdict.failingSince ?? null,
      verdict.disable ?? null,
    ],
  });
}
