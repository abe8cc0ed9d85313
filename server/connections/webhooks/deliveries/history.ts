import type pg from "pg";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";

/** How long deliveries and events are kept, which is how long missed events can be replayed. */
export const keptDays = 30;

/**
 * Deletes old deliveries and events, a thousand at a time. A pending delivery is kept unless its hook is disabled, an event as
 * long as one of its deliveries, which are found by it when their recording is deleted. The ids are selected as an array,
 * which runs once: joined, the planner may run the selection again for each row of a table that has just grown.
 */
export async function deleteOldHistory(pool: pg.Pool): Promise<void> {
  for (const statement of [
    `delete from deliveries where id = any(array(
       select id from deliveries where created_at < now() - make_interval(days => $1)
         and (state <> 'pending' or exists (
           select 1 from hooks h where h.id = deliveries.hook_id and h.disabled_at is not null)) limit 1000))`,
    `delete from events where id = any(array(
       select id from events where occurred_at < now() - make_interval(days => $1)
         and not exists (select 1 from waiting_events w where w.event_id = events.id)
         and not exists (select 1 from deliveries d where d.event_id = events.id)
       limit 1000))`,
  ]) {
    let deleted: number | null;
    do {
      deleted = (await pool.query(statement, [keptDays])).rowCount;
    } while (deleted === 1000);
  }
}

/** Longer than any lease can be ahead. */
const maxLeaseAhead = "interval '1 hour'";

/**
 * Corrects times in the future that a clock left behind which was ahead for a while: deliveries would wait until then.
 * Deliveries are locked before their hook, and hooks in the order of ids, as everywhere.
 * @param options.maxWaitMs the longest time that a delivery waits for its next attempt.
 */
export async function correctFutureDeliveries(
  pool: pg.Pool,
  { now, maxWaitMs }: { readonly now: Date; readonly maxWaitMs: number },
): Promise<void> {
  const latest = new Date(now.getTime() + maxWaitMs);
  const { rows } = await pool.query<{ id: string }>(
    `select id from hooks
     where greatest(next_due_at, paused_until, failing_since) > $1 or leased_until > now() + ${maxLeaseAhead}`,
    [latest],
  );
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return;
  await pool.query(
    `update deliveries set due_at = $2 where id in (
       select id from deliveries where hook_id = any($1::uuid[]) and due_at > $3 and state = 'pending'
       order by id for no key update)`,
    [ids, now, latest],
  );
  await pool.query(
    `update hooks set failing_since = least(failing_since, $2), paused_until = least(paused_until, $2),
       next_due_at = least(next_due_at, $2), leased_until = least(leased_until, now())
     where id in (select id from hooks where id = any($1::uuid[]) order by id for no key update)`,
    [ids, now],
  );
}

export const deleteOldHistoryKind = defineRecurringJob({
  name: "delete_old_history",
  label: (i18n) => i18n.t("Delete old history"),
  every: "sweep",
  guard: "age",
  handler: ({ db }) => deleteOldHistory(db.pool),
});

const dayMs = 86_400_000;

export const correctFutureDeliveriesKind = defineRecurringJob({
  name: "correct_future_deliveries",
  label: (i18n) => i18n.t("Correct future deliveries"),
  every: "sweep",
  // Only once the clock is trusted again: by a clock that is ahead, nothing is in the future.
  guard: "age",
  handler: ({ db, clock, config: { hookRetryScheduleMs } }) =>
    correctFutureDeliveries(db.pool, {
      now: clock?.now() ?? new Date(),
      // With room for jitter, and for the delay that a receiver asks for.
      maxWaitMs: 2 * Math.max(dayMs, ...hookRetryScheduleMs),
    }),
});
