import { sql } from "kysely";
import { allows, type DeliveryState } from "../../../people/events/delivery-states.ts";
import type { Tx } from "../../../platform/db/database.ts";

/** Whether a delivery was requeued; if not, because it is suppressed, or because its event and payload were deleted. */
export type RequeueOutcome = "done" | "suppressed" | "deleted";

/** Makes a delivery due now, with a fresh retry schedule, if there is something to send. */
export async function requeueDelivery(tx: Tx, hookId: string, messageId: string): Promise<RequeueOutcome> {
  const { rows } = await sql<{ id: string; state: DeliveryState; has_content: boolean }>`
    select id, state, payload is not null or exists (select 1 from events e where e.id = deliveries.event_id) as has_content
    from deliveries where message_id = ${messageId} and hook_id = ${hookId} for update`.execute(tx);
  const [delivery] = rows;
  if (delivery === undefined || !allows(delivery.state, "requeue")) return "suppressed";
  if (!delivery.has_content) return "deleted";
  await sql`
    update deliveries set state = 'pending', due_at = now(), attempts_before = attempts, settled_at = null
    where id = ${delivery.id}`.execute(tx);
  await makeHookDue(tx, hookId);
  return "done";
}

/** Adds a delivery without an event, ready to be sent. */
export async function insertTestDelivery(
  tx: Tx,
  hookId: string,
  messageId: string,
  payload: string,
): Promise<void> {
  await sql`
    insert into deliveries (message_id, hook_id, event_type, subject_id, payload)
    select ${messageId}, id, hook_type, id, ${payload} from hooks where id = ${hookId} for key share`.execute(
    tx,
  );
  await makeHookDue(tx, hookId);
}

/** Adds a delivery without an event for each recording, which is rendered when it is sent. */
export async function insertRecordingDeliveries(
  tx: Tx,
  hookId: string,
  recordingIds: readonly string[],
): Promise<void> {
  await sql`
    insert into deliveries (hook_id, event_type, subject_id, recording_id)
    select id, 'recording_updated', recording_id, recording_id
    from hooks cross join unnest(${recordingIds}::uuid[]) recording_id where id = ${hookId} for key share of hooks`.execute(
    tx,
  );
  await makeHookDue(tx, hookId);
}

/**
 * Makes a hook due now, and ends a pause that its receiver asked for, because a user is waiting. It runs after the change of
 * its deliveries and in the same transaction: a worker that releases the hook meanwhile either waits for the row and then
 * sees the change, or has finished and its next due time is replaced.
 */
export async function makeHookDue(tx: Tx, hookId: string): Promise<void> {
  await sql`update hooks set next_due_at = least(next_due_at, now()), paused_until = null where id = ${hookId}`.execute(
    tx,
  );
}
