import type pg from "pg";

/** Longer than any delay except a webhook's next attempt. */
const maxWait = "interval '1 hour'";

/** Longer than a heartbeat, a lease or the clocks of two machines may be ahead. */
const maxAhead = "interval '5 minutes'";

/**
 * Corrects times in the future of jobs and uploads, left by a clock that was ahead for a while: they would wait until the
 * time has really come, and dead workers would not be noticed.
 */
export async function correctFutureTimes(pool: pg.Pool): Promise<void> {
  await pool.query(
    `update pgboss.queue set monitor_on = least(monitor_on, now()), monitor_claim_on = least(monitor_claim_on, now()),
       maintain_on = least(maintain_on, now())
     where greatest(monitor_on, monitor_claim_on, maintain_on) > now() + ${maxAhead}`,
  );
  await pool.query(
    `update pgboss.job set start_after = now()
     where policy = 'exclusive' and state < 'active' and start_after > now() + ${maxWait}`,
  );
  await pool.query(
    `update pgboss.job set heartbeat_on = now(), started_on = least(started_on, now())
     where policy = 'exclusive' and state = 'active' and heartbeat_on > now() + ${maxAhead}`,
  );
  await pool.query(`delete from job_turns where started_at > now() + ${maxAhead}`);
  await pool.query(
    `update uploads set next_check_at = now()
     where status = 'awaiting' and next_check_at > now() + ${maxWait}`,
  );
}
