import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";
import { allows, type DeliveryState } from "./delivery-states.ts";

/** How many events and deliveries a deletion affected. */
export interface DeletedEvents {
  readonly events: number;
  readonly deliveries: number;
}

/**
 * Deletes the events of a recording with everything that was or would be sent of them. Deliveries stay in the log without
 * their payload and without the receiver's response, which may repeat it; pending ones are suppressed.
 * @param subjectIds the recording, its highlights and its uploads.
 */
export async function deleteEvents(
  tx: Tx,
  recordingId: string,
  subjectIds: readonly string[],
): Promise<DeletedEvents> {
  const eventIds = await lockEvents(tx, [recordingId], subjectIds);
  const deliveries = await lockDeliveries(tx, eventIds);
  await removeContent(tx, deliveries);
  await suppressDeliveries(tx, deliveries);
  await sql`
    update deliveries set event_id = null where event_id = any(${eventIds}::bigint[])`.execute(tx);
  await sql`delete from events where id = any(${eventIds}::bigint[])`.execute(tx);
  return { events: eventIds.length, deliveries: deliveries.length };
}

/**
 * Removes what was rendered from the deliveries of recordings: payloads, and responses, which may repeat them. Pending
 * deliveries are suppressed and replaced: a worker may be sending the old payload at this moment, and its result is then no
 * longer saved. The new delivery is rendered without the erased data.
 * @param uploadIds the uploads that the recordings came from.
 */
export async function redactDeliveries(
  tx: Tx,
  recordingIds: readonly string[],
  uploadIds: readonly string[],
): Promise<void> {
  const eventIds = await lockEvents(tx, recordingIds, [...recordingIds, ...uploadIds]);
  const deliveries = await lockDeliveries(tx, eventIds);
  await removeContent(tx, deliveries);
  const suppressed = await suppressDeliveries(tx, deliveries);
  if (suppressed.length === 0) return;
  const hookIds = suppressed.map((delivery) => delivery.hook_id);
  await sql`
    insert into deliveries (hook_id, event_id, event_type, subject_id, recording_id, due_at)
    select s.hook_id, e.id, e.type, e.subject_id, e.recording_id, clock_timestamp()
    from unnest(${hookIds}::uuid[], ${suppressed.map((delivery) => delivery.event_id)}::bigint[]) as s (hook_id, event_id)
      join events e on e.id = s.event_id
    order by e.id`.execute(tx);
  await sql`
    update hooks set next_due_at = least(next_due_at, now())
    where id in (select id from hooks where id = any(${hookIds}::uuid[]) order by id for no key update)`.execute(
    tx,
  );
}

interface LockedDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly hook_id: string;
  readonly state: DeliveryState;
}

/** Locks the events first, so that a fan-out has either created their deliveries or finds the events gone. */
async function lockEvents(
  tx: Tx,
  recordingIds: readonly string[],
  subjectIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from events
    where recording_id = any(${recordingIds}::uuid[]) or subject_id = any(${subjectIds}::uuid[])
    order by id for update`.execute(tx);
  return rows.map(({ id }) => id);
}

async function lockDeliveries(tx: Tx, eventIds: readonly string[]): Promise<LockedDelivery[]> {
  const { rows } = await sql<LockedDelivery>`
    select id, event_id, hook_id, state from deliveries
    where event_id = any(${eventIds}::bigint[]) order by id for update`.execute(tx);
  return rows;
}

async function removeContent(tx: Tx, deliveries: readonly LockedDelivery[]): Promise<void> {
  const ids = deliveries.map(({ id }) => id);
  await sql`
    update delivery_attempts set response = null
    where delivery_id = any(${ids}::bigint[]) and response is not null`.execute(tx);
  await sql`
    update deliveries set payload = null, first_response = null
    where id = any(${ids}::bigint[]) and (payload is not null or first_response is not null)`.execute(tx);
}

/** Suppresses those that are pending. @returns them. */
async function suppressDeliveries(tx: Tx, deliveries: readonly LockedDelivery[]): Promise<LockedDelivery[]> {
  const pending = deliveries.filter(({ state }) => allows(state, "suppress"));
  await sql`
    update deliveries set state = 'withheld', event_id = null, settled_at = clock_timestamp()
    where id = any(${pending.map(({ id }) => id)}::bigint[])`.execute(tx);
  return pending;
}
