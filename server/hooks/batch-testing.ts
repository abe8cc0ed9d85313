import type { TestWorkspace } from "../../test/support/factories.ts";
import { until } from "../../test/support/until.ts";
import type { Database } from "../db/database.ts";
import { record } from "../events/record.ts";
import { type DueDelivery, findDue } from "./due-queries.ts";
import { fanOut } from "./fan-out.ts";
import type { Settlement } from "./settlement.ts";

/** What tests of deliveries in batches do without a worker. */
export function batchTools(db: Database) {
  return {
    /** An event for each subject in one transaction, with the deliveries made of them. */
    async happenAtOnce(workspace: TestWorkspace, subjects: readonly string[]): Promise<void> {
      await db.kysely.transaction().execute(async (tx) => {
        for (const subjectId of subjects)
          await record(tx, {
            workspaceId: workspace.id,
            type: "recording_deleted",
            subjectId,
            audience: [],
            data: { id: subjectId },
          });
      });
      await fanOut(db);
    },

    /** Waits until a statement waits for what a transaction holds. */
    async waitForLock(): Promise<void> {
      await until("a statement waits for another's transaction", async () => {
        const { rows } = await db.pool.query(
          "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        );
        return rows.length > 0;
      });
    },

    /** What is due for a hook a minute from now. */
    async lookFor(
      hookId: string,
      look: { after?: DueDelivery | null; except?: string[]; limit?: number } = {},
    ): Promise<DueDelivery[]> {
      const { after = null, except = [], limit = 250 } = look;
      const now = new Date(Date.now() + 60_000);
      const [found] = await findDue(db.pool, [{ hookId, now, except, after, limit }]);
      return found ?? [];
    },
  };
}

/** The result of an attempt that succeeded. */
export const asDelivered = ({ id, batch_id }: DueDelivery): Settlement => ({
  id,
  batch_id,
  state: "delivered",
  due_at: null,
  payload: Buffer.from("{}"),
  attempt: {
    number: 1,
    started_at: new Date(),
    duration_ms: 3,
    status: 204,
    error: null,
    answer: "",
    signature: "v1,x",
  },
});
