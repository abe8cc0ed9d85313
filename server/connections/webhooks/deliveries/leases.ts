import type pg from "pg";
import { type HookRow, isOn } from "../api/queries.ts";
import { canReceive } from "./can-receive.ts";

/** How long a lease lasts without a renewal. */
const leaseSeconds = 10;

/** Whether events wait for their deliveries, or hooks for a worker: one query instead of the six that would do the work. */
export async function isAnythingDue(pool: pg.Pool, now: Date): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>({
    name: "is_anything_due",
    text: `select (select event_id from waiting_events order by event_id limit 1) is not null or exists (
        select 1 from hooks where next_due_at <= $1 and ${isOn("hooks")}
          and (leased_until is null or leased_until < now())
          and (paused_until is null or paused_until <= $1)) as due`,
    values: [now],
  });
  return rows[0]?.due ?? false;
}

/** How long until an event waits for its deliveries, or a hook for a worker; infinite if nothing is planned. */
export async function msUntilHookDue(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ ms: number | null }>({
    name: "ms_until_hook_due",
    text: `select case when exists (select 1 from waiting_events) then 0 else (
        select extract(epoch from min(greatest(next_due_at, leased_until, paused_until)) - clock_timestamp())::float8 * 1000
        from hooks where next_due_at is not null and ${isOn("hooks")}) end as ms`,
  });
  return rows[0]?.ms ?? Number.POSITIVE_INFINITY;
}

/**
 * Leases hooks for which something is due and that no worker holds.
 * @param options.failing hooks whose last attempt failed, or the others.
 * @param options.except hooks that this process serves already.
 * @returns the hooks; `leased_by` is the token of this lease.
 */
export async function leaseHooks(
  pool: pg.Pool,
  options: { failing: boolean; limit: number; now: Date; except: readonly string[] },
): Promise<HookRow[]> {
  const { rows } = await pool.query<HookRow>({
    name: `lease_hooks_${options.failing}`,
    text: `update hooks set leased_by = gen_random_uuid(), leased_until = now() + make_interval(secs => ${leaseSeconds})
      -- An array is built once: a subquery with a limit that is joined may run again for each row, and lock too many.
      where id = any(array(
        select id from hooks
        where next_due_at <= $1 and ${isOn("hooks")} and (leased_until is null or leased_until < now())
          and (paused_until is null or paused_until <= $1)
          and failing_since is ${options.failing ? "not null" : "null"}
          -- A join, for which the planner can use a hash: a thousand hooks against five hundred, one by one, are slow.
          and not exists (select 1 from unnest($3::uuid[]) held (hook_id) where held.hook_id = hooks.id)
        order by next_due_at limit $2 for update skip locked))
      returning *`,
    values: [options.now, options.limit, options.except],
  });
  return rows;
}

/** Renews leases. @returns the tokens of those that have not been lost. */
export async function renewLeases(pool: pg.Pool, tokens: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ leased_by: string }>(
    `update hooks set leased_until = now() + make_interval(secs => ${leaseSeconds})
     where id in (select id from hooks where leased_by = any($1::uuid[]) order by id for no key update)
       and leased_by = any($1::uuid[]) returning leased_by`,
    [tokens],
  );
  return new Set(rows.map((row) => row.leased_by));
}

/** A lease to end, and when the hook may be leased again at the earliest. */
export interface Release {
  readonly hookId: string;
  readonly token: string;
  readonly notBefore: Date | null;
}

/** Ends leases, in the order of ids in which everything locks hooks. */
export async function releaseHooks(pool: pg.Pool, releases: readonly Release[]): Promise<void> {
  await pool.query({
    name: "release_hooks",
    text: `select parley_release_hook(hook_id, token, not_before)
      from (select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as r (hook_id, token, not_before)
        order by hook_id) ordered`,
    values: [
      releases.map(({ hookId }) => hookId),
      releases.map(({ token }) => token),
      releases.map(({ notBefore }) => notBefore),
    ],
  });
}

/** Ends every lease: for a process that knows it is the only worker. */
export async function releaseAllHooks(pool: pg.Pool): Promise<void> {
  await pool.query("update hooks set leased_by = null, leased_until = null where leased_until is not null");
}

/** Makes hooks due that have pending deliveries but no due time. Finds none unless rows were changed by hand. */
export async function findForgottenHooks(pool: pg.Pool): Promise<void> {
  await pool.query(`update hooks set next_due_at = now()
    where id in (
      select id from hooks h where next_due_at is null and parley_next_due(h.id) is not null
      order by id for no key update)`);
}

/** Whether a delivery that was prepared a while ago may still be sent. */
export async function maySend(pool: pg.Pool, hookId: string, deliveryId: string): Promise<boolean> {
  const { rows } = await pool.query({
    name: "may_send",
    text: `select 1
      from deliveries d
        join hooks h on h.id = d.hook_id and ${isOn("h")}
        join workspaces w on w.id = h.workspace_id
        left join events e on e.id = d.event_id
      where d.id = $2 and d.hook_id = $1 and d.state = 'pending' and ${canReceive("d")}`,
    values: [hookId, deliveryId],
  });
  return rows.length > 0;
}
