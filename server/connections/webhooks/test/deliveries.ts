import type { TestWorkspace } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { recordEvent } from "../../../people/events/record-event.ts";
import type { Database } from "../../../platform/db/database.ts";
import { type DueDelivery, findDue } from "../deliveries/due.ts";
import { fanOut } from "../deliveries/fan-out.ts";
import type { DeliveryResult } from "../deliveries/save-results.ts";

/** What tests of deliveries do without a worker. */
export function deliveryTools(db: Database) {
  return {
    /** Records an event for each subject in one transaction, and creates their deliveries. */
    async recordAll(workspace: TestWorkspace, subjects: readonly string[]): Promise<void> {
      await db.kysely.transaction().execute(async (tx) => {
        for (const subjectId of subjects)
          await recordEvent(tx, {
            workspaceId: workspace.id,
            type: "recording_deleted",
            subjectId,
            audience: [],
            data: { id: subjectId },
          });
      });
      await fanOut(db);
    },

    /** Waits until a statement waits for a lock. */
    async waitForLock(): Promise<void> {
      await until("a statement waits for another transaction", async () => {
        const { rows } = await db.pool.query(
          "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        );
        return rows.length > 0;
      });
    },

    /** What is due for a hook a minute from now. */
    findDueOf(hookId: string, limit = 250): Promise<DueDelivery[]> {
      return findDue(db.pool, hookId, { now: new Date(Date.now() + 60_000), limit });
    },
  };
}

/** The result of a successful attempt. */
export const delivered = ({ id, attempts }: Pick<DueDelivery, "id" | "attempts">): DeliveryResult => ({
  id,
  state: "delivered",
  due_at: null,
  payload: "{}",
  attempt: {
    number: attempts + 1,
    started_at: new Date(),
    duration_ms: 3,
    status: 204,
    error: null,
    response: "",
    signature: "v1,x",
  },
});
