import { z } from "zod";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { removeOrphans } from "./orphans.ts";
import { refusalToSweep } from "./owner-marker.ts";

/** Leftovers in the store older than this belong to no running process. */
const leftoverAgeMs = 86_400_000;

/** Going through all files should take at most one part in this many of the time. */
const sweepShare = 50;

/** How often the log says that the store is another database's. */
const warnEveryMs = 3_600_000;

export const removeOrphanedFilesKind = defineRecurringJob({
  name: "remove_orphaned_files",
  label: (i18n) => i18n.t("Remove orphaned files"),
  every: "sweep",
  guard: "age",
  schema: z.object({ warnedAt: z.number().optional() }),
  // Small stores are swept at every interval, large ones less often.
  async handler({ db, store, log }, { warnedAt = 0 }) {
    const began = Date.now();
    const refusal = await refusalToSweep(db, store);
    if (refusal !== null) {
      if (began - warnedAt < warnEveryMs) return {};
      log.error(refusal);
      return { state: { warnedAt: began } };
    }
    const count = await removeOrphans(db, store, log);
    await store.sweepLeftovers(new Date(began - leftoverAgeMs));
    if (count > 0) log.info({ count }, "removed orphaned files");
    return { pauseMs: (Date.now() - began) * sweepShare };
  },
});
