import { notify, operators, today } from "../../people/events/notify.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { i18nFor } from "../../platform/language/i18n.ts";
import { checkDisk } from "./doctor/folders.ts";
import { summarizeRepeated } from "./jobs/queries.ts";

/** After so many attempts a failure is unlikely to end without help. */
const manyAttempts = 5;

/** Kinds of jobs that admins are notified of at a time. */
const maxKinds = 20;

/**
 * Notifies the operator's admins of a full disk and of kinds of jobs that keep failing, once a day while it lasts, and of a
 * nearly full disk once a month. Failed backups are reported by their own job.
 */
async function notifyAdmins({
  db,
  jobs,
  config,
}: {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly config: Pick<Config, "dataDir">;
}): Promise<void> {
  const problems = (await checkDisk(config.dataDir)).filter(
    ({ state }) => state === "warning" || state === "error",
  );
  const failing = (await summarizeRepeated(db.kysely, manyAttempts)).slice(0, maxKinds);
  if (problems.length + failing.length === 0) return;
  const english = await i18nFor(null);
  const nameOf = (kind: string): string => jobs.kinds.get(kind)?.label(english) ?? kind;
  await db.kysely.transaction().execute(async (tx) => {
    for (const { state, explanation, remedy } of problems)
      await notify(tx, {
        kind: "disk_nearly_full",
        key: state === "error" ? `disk:${today()}` : `disk:${today().slice(0, 7)}`,
        to: operators,
        actorId: null,
        data: {
          problem: state === "error" ? "disk_full" : "disk_nearly_full",
          title: `The server's disk is ${state === "error" ? "full" : "nearly full"}`,
          text: `${explanation} ${remedy ?? ""}`.trim(),
        },
      });
    for (const { kind, count, error } of failing)
      await notify(tx, {
        kind: "job_failing",
        key: `job:${kind}:${today()}`,
        to: operators,
        actorId: null,
        data: {
          job: nameOf(kind),
          failing: { kind, count, attempts: manyAttempts, error },
          title: `“${nameOf(kind)}” keeps failing`,
          text: `${count === 1 ? "One job has" : `${count} jobs have`} failed ${manyAttempts} times or more. The last error: ${error}`,
        },
      });
  });
  jobs.wake();
}

export const notifyAdminsKind = defineRecurringJob({
  name: "notify_admins",
  label: (i18n) => i18n.t("Notify admins"),
  every: "10 min",
  guard: "original",
  handler: notifyAdmins,
});
