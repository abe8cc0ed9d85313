import { defineRecurringJob } from "./define.ts";
import { correctFutureJobs, deleteOldTurns } from "./queries.ts";

export const correctFutureTimesKind = defineRecurringJob({
  name: "correct_future_times",
  label: (i18n) => i18n.t("Correct future times"),
  every: "sweep",
  // Only once the clock is trusted again: by a clock that is ahead, nothing is in the future.
  guard: "age",
  handler: ({ db }) => correctFutureJobs(db.pool),
});

export const deleteOldJobTurnsKind = defineRecurringJob({
  name: "delete_old_job_turns",
  label: (i18n) => i18n.t("Delete old job turns"),
  every: "1 h",
  handler: ({ db }) => deleteOldTurns(db.pool),
});
