import type pg from "pg";
import type { DueDelivery } from "./due-queries.ts";
import { mayHear } from "./fan-out.ts";
import type { HookRow } from "./queries.ts";

/** How long a worker's hold on a hook is believed without a sign of life. */
export const leaseSeconds = 10;

/** Whether events wait to be handed on, or hooks to be served: one look, where finding out by doing takes six. */
export async function isAnythingDue(pool: pg.Pool, now: Date): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>({
    name: "is_anything_due",
    text: `select (select event_id from waiting_events order by event_id limit 1) is not null or exists (
        select 1 from hooks where next_due_at <= $1 and disabled_at is null
          and (leased_until is null or leased_until < now())
          and (paused_until is null or paused_until <= $1)) as due`,
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
      -- An array is made once: joined, a limited choice may be made again for each row, and lock more than it should.
      where id = any(array(
        select id from hooks
        where next_due_at <= $1 and disabled_at is null and (leased_until is null or leased_until < now())
          and (paused_until is null or paused_until <= $1)
          and failing_since is ${options.failing ? "not null" : "null"}
          -- As a join, which the planner may do by a hash: a thousand hooks against five hundred, one by one, take a while.
          and not exists (select 1 from unnest($3::uuid[]) held (hook_id) where held.hook_id = hooks.id)
        order by next_due_at limit $2 for update skip locked))
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

/** A hook to let go of, and when to look at it again at the earliest. */
export interface Release {
  readonly hookId: string;
  readonly token: string;
  readonly notBefore: Date | null;
}

/** Lets go of hooks, one after the other in the order in which everybody takes them. */
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

/** Frees every hook: for a process that knows it is the only worker. */
export async function releaseAllHooks(pool: pg.Pool): Promise<void> {
  await pool.query("update hooks set leased_by = null, leased_until = null where leased_until is not null");
}

/** Has hooks looked at again for which something waits that nobody was told of. Costs little; finds nothing unless a row was changed by hand. */
export async function findForgottenHooks(pool: pg.Pool): Promise<void> {
  await pool.query(`update hooks set next_due_at = now()
    where id in (
      select id from hooks h where next_due_at is null and parley_next_due(h.id) is not null
      order by id for no key update)`);
}

/** Whether a delivery that was prepared a while ago may still be sent. */
export async function mayStillSend(
  pool: pg.Pool,
  hookId: string,
  { id, batch_id }: Pick<DueDelivery, "id" | "batch_id">,
): Promise<boolean> {
  const { rows } = await pool.query({
    name: "may_still_send",
    text: `select 1
      from (
          select hook_id, event_id, recording_id from deliveries where id = $2 and state = 'pending'
          union all
          select b.hook_id, x.event_id, ev.recording_id
          from delivery_batches b cross join lateral unnest(b.delivery_ids, b.event_ids) x (id, event_id)
            join events ev on ev.id = x.event_id
          where b.id = $3 and x.id = $2
        ) d
        join hooks h on h.id = d.hook_id and h.disabled_at is null
        join workspaces w on w.id = h.workspace_id
        left join lateral (select ev.audience, d.recording_id from (select 1) one
          left join events ev on ev.id = d.event_id) e on true
      where d.hook_id = $1 and ${mayHear}`,
    values: [hookId, id, batch_id],
  });
  return rows.length > 0;
}
