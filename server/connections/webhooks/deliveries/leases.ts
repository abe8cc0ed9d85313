import type { Selectable } from "kysely";
import type pg from "pg";
import type { Hooks } from "../../../platform/db/types.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import { type HookRow, isOn } from "../api/queries.ts";

/**
 * How long a lease lasts, and how long after its beginning requests may start: each has 15 seconds, and 5 are left to save its
 * result. When a process dies, its hooks wait until the lease ends.
 */
const leaseSeconds = 30;
const mayStartMs = 10_000;

/** Whether a request to a hook that was leased then, by `performance.now()`, may still start. */
export function isWithinLease(leasedAt: number): boolean {
  return performance.now() - leasedAt < mayStartMs;
}

/** Whether events wait for their deliveries, and hooks for a lease: one query instead of the six that would do the work. */
export async function findWork(pool: pg.Pool, now: Date): Promise<{ hasEvents: boolean; hasHooks: boolean }> {
  const { rows } = await pool.query<{ events: boolean; hooks: boolean }>({
    name: "find_work",
    text: `select (select event_id from waiting_events order by event_id limit 1) is not null as events, exists (
        select 1 from hooks where next_due_at <= $1 and ${isOn("hooks")}
          and (leased_until is null or leased_until < now())
          and (paused_until is null or paused_until <= $1)) as hooks`,
    values: [now],
  });
  return { hasEvents: rows[0]?.events ?? false, hasHooks: rows[0]?.hooks ?? false };
}

/** How long until an event waits for its deliveries, or a hook for a lease; infinite if nothing is planned. */
export async function msUntilHookDue(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ ms: number | null }>({
    name: "ms_until_hook_due",
    text: `select case when exists (select 1 from waiting_events) then 0 else (
        select extract(epoch from min(greatest(next_due_at, leased_until, paused_until)) - clock_timestamp())::float8 * 1000
        from hooks where next_due_at is not null and ${isOn("hooks")}) end as ms`,
  });
  return rows[0]?.ms ?? Number.POSITIVE_INFINITY;
}

/** A hook that this process serves; those of deliveries (connections/deliveries) are hooks too. */
export type LeasedHook = Selectable<Hooks>;

export function isWebhook(hook: LeasedHook): hook is HookRow {
  return hook.hook_type !== "delivery";
}

/**
 * Leases hooks for which something is due and that no process holds, those that have waited longest first.
 * @param options.isFailing hooks whose last attempt failed, or the others.
 * @returns the hooks; `leased_by` is the token of this lease.
 */
export async function leaseHooks(
  pool: pg.Pool,
  options: { readonly isFailing: boolean; readonly limit: number; readonly now: Date },
): Promise<LeasedHook[]> {
  const { rows } = await pool.query<LeasedHook>({
    name: `lease_hooks_${options.isFailing}`,
    text: `update hooks set leased_by = gen_random_uuid(), leased_until = now() + make_interval(secs => ${leaseSeconds})
      -- An array is built once: a subquery with a limit that is joined may run again for each row, and lock too many.
      where id = any(array(
        select id from hooks
        where next_due_at <= $1 and ${isOn("hooks")} and (leased_until is null or leased_until < now())
          and (paused_until is null or paused_until <= $1)
          and failing_since is ${options.isFailing ? "not null" : "null"}
        order by next_due_at limit $2 for update skip locked))
      returning *`,
    values: [options.now, options.limit],
  });
  return rows;
}

/** What the attempts of a batch mean for the hook. */
export interface HookHealth {
  /** Undefined: unchanged. */
  readonly failingSince?: Date | null;
  /** The reason to disable the hook. */
  readonly disable?: string;
  /** When sending may resume, as the receiver asked. */
  readonly pauseUntil?: Date;
}

/** A lease to end. */
export interface Release {
  readonly hookId: string;
  readonly token: string | null;
  readonly health: HookHealth;
  /** When the hook may be leased again at the earliest. */
  readonly notBefore: Date;
}

/** Ends leases and saves what is known of the receivers, in the order of ids in which everything locks hooks. */
export async function releaseHooks(pool: pg.Pool, releases: readonly Release[], now: Date): Promise<void> {
  const changed = releases.filter(({ health }) => Object.keys(health).length > 0);
  if (changed.length > 0)
    await pool.query({
      name: "save_hook_health",
      text: `with v as (
          select v.* from unnest($1::uuid[], $2::boolean[], $3::timestamptz[], $4::text[], $5::timestamptz[])
            as v (hook_id, is_changed, failing_since, disable, pause_until)
            join hooks on hooks.id = v.hook_id
          order by v.hook_id for no key update of hooks
        )
        update hooks set
          failing_since = case when v.is_changed then v.failing_since else hooks.failing_since end,
          disabled_at = case when v.disable is null then hooks.disabled_at else $6::timestamptz end,
          disabled_reason = coalesce(v.disable, hooks.disabled_reason),
          paused_until = coalesce(v.pause_until, hooks.paused_until)
        from v where hooks.id = v.hook_id`,
      values: [
        changed.map(({ hookId }) => hookId),
        changed.map(({ health }) => health.failingSince !== undefined),
        changed.map(({ health }) => health.failingSince ?? null),
        changed.map(({ health }) => health.disable ?? null),
        changed.map(({ health }) => health.pauseUntil ?? null),
        now,
      ],
    });
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

/** Ends every lease: for a process that knows it is the only one that sends. */
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

export const findForgottenHooksKind = defineRecurringJob({
  name: "find_forgotten_hooks",
  label: (i18n) => i18n.t("Find forgotten hooks"),
  every: "sweep",
  handler: ({ db }) => findForgottenHooks(db.pool),
});
