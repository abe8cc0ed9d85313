import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { deliveryStates } from "../../../../contract/webhooks/hook-management.ts";
import { unknownId } from "../../../../test/support/factories.ts";
import { deleteEvents } from "../../../people/events/delete.ts";
import {
  allows,
  type DeliveryState,
  type Transition,
  transitions,
} from "../../../people/events/delivery-states.ts";
import { delivered } from "../test/deliveries.ts";
import { startManagement } from "../test/management.ts";
import { replay } from "./replay.ts";
import { requeueDelivery } from "./requeue.ts";
import { saveResults } from "./save-results.ts";

const { db, makeHook, happen, deliveriesOf } = await startManagement({ worker: false });

interface Stored {
  readonly id: string;
  readonly message_id: string;
  readonly hook_id: string;
  readonly subject_id: string;
  readonly attempts: number;
}

const save = (state: DeliveryState) => async (delivery: Stored) => {
  const due_at = state === "pending" ? new Date(Date.now() + 5000) : null;
  const result = { ...delivered(delivery), state, due_at };
  await saveResults(db.pool, [result], new Date());
};

/** What makes each transition. */
const actions: Record<Transition, readonly ((delivery: Stored) => Promise<unknown>)[]> = {
  deliver: [save("delivered")],
  retry: [save("pending")],
  exhaust: [save("exhausted")],
  end: [save("gone")],
  skip: [save("withheld")],
  suppress: [
    ({ subject_id }) => db.kysely.transaction().execute((tx) => deleteEvents(tx, unknownId(), [subject_id])),
  ],
  requeue: [
    ({ hook_id, message_id }) =>
      db.kysely.transaction().execute((tx) => requeueDelivery(tx, hook_id, message_id)),
    ({ hook_id }) =>
      replay(db, hook_id, "all", {
        since: new Date(Date.now() - 3_600_000),
        until: new Date(Date.now() + 3_600_000),
      }),
  ],
};

for (const [transition, makers] of Object.entries(actions) as [Transition, (typeof actions)[Transition]][])
  for (const state of deliveryStates)
    test(`${transition} of a ${state} delivery: ${allows(state, transition) ? transitions[transition].to : "unchanged"}`, async () => {
      for (const make of makers) {
        const hook = await makeHook();
        await happen();
        await db.pool.query(
          `update deliveries set state = $2, settled_at = case when $2 = 'pending' then null else now() end
           where hook_id = $1`,
          [hook.id, state],
        );
        const [before] = await deliveriesOf(hook.id);
        await make(before);
        const [after] = await deliveriesOf(hook.id);
        assert.equal(after.state, allows(state, transition) ? transitions[transition].to : state);
        assert.equal(after.settled_at === null, after.state === "pending");
        await db.pool.query("delete from hooks where id = $1", [hook.id]);
      }
    });

test("the database allows exactly the states of the table", async () => {
  const { rows } = await db.pool.query<{ definition: string }>(
    "select pg_get_constraintdef(oid) as definition from pg_constraint where conname = 'deliveries_state_check'",
  );
  const allowed = [...(rows[0]?.definition ?? "").matchAll(/'(\w+)'/g)].map(([, state]) => state);
  assert.deepEqual(allowed.sort(), [...deliveryStates].sort());
});

test("only webhooks/deliveries, and the deletion of events and hooks, write to deliveries and delivery_attempts", () => {
  const root = fileURLToPath(new URL("../../../..", import.meta.url));
  const writes = /\b(insert\s+into|update|delete\s+from)\s+(deliveries|delivery_attempts)\b/;
  const writers = ["server", "cli"]
    .flatMap((folder) =>
      readdirSync(`${root}/${folder}`, { recursive: true, encoding: "utf8" }).map(
        (path) => `${folder}/${path}`,
      ),
    )
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !/\/test\//.test(path))
    .filter((path) => writes.test(readFileSync(`${root}/${path}`, "utf8")));
  assert.ok(writers.length > 0);
  for (const path of writers)
    assert.match(path, /^server\/(connections\/webhooks\/deliveries|people\/events)\//);
});
