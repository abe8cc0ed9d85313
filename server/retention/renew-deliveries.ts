import { sql } from "kysely";
import type { Tx } from "../db/database.ts";

/**
 * Takes out of the deliveries of a recording what was rendered before: payloads, and what receivers answered, which
 * may repeat it. What still waits is rendered anew, as a delivery of its own: one that is being sent at this very
 * moment writes down what it sent, unless it has been withheld.
 * @param uploadIds the uploads that the recording came from.
 */
export async function renewDeliveries(
  tx: Tx,
  recordingIds: readonly string[],
  uploadIds: readonly string[],
): Promise<void> {
  // Events first and then deliveries, as whoever makes deliveries, and whoever deletes a recording.
  const { rows: events } = await sql<{ id: string }>`
    select id from events
    where recording_id = any(${recordingIds}::uuid[]) or subject_id = any(${[...recordingIds, ...uploadIds]}::uuid[])
    order by id for update`.execute(tx);
  await sql`select parley_unpack_events(${events.map(({ id }) => id)}::bigint[])`.execute(tx);
  const { rows: deliveries } = await sql<{ id: string; event_id: string; hook_id: string; state: string }>`
    select id, event_id, hook_id, state from deliveries
    where event_id = any(${events.map(({ id }) => id)}::bigint[]) order by id for update`.execute(tx);
  const ids = deliveries.map(({ id }) => id);
  await sql`
    update delivery_attempts set answer = null
    where delivery_id = any(${ids}::bigint[]) and answer is not null`.execute(tx);
  await sql`
    update deliveries set payload = null, first_answer = null
    where id = any(${ids}::bigint[]) and (payload is not null or first_answer is not null)`.execute(tx);
  const waiting = deliveries.filter(({ state }) => state === "pending");
  if (waiting.length === 0) return;
  await sql`
    update deliveries set state = 'withheld', event_id = null, settled_at = clock_timestamp()
    where id = any(${waiting.map(({ id }) => id)}::bigint[])`.execute(tx);
  const eventIds = waiting.map((delivery) => delivery.event_id);
  const hookIds = waiting.map((delivery) => delivery.hook_id);
  await sql`
    insert into deliveries (hook_id, event_id, event_type, subject_id, recording_id, due_at)
    select w.hook_id, e.id, e.type, e.subject_id, e.recording_id, clock_timestamp()
    from unnest(${hookIds}::uuid[], ${eventIds}::bigint[]) as w (hook_id, event_id)
      join events e on e.id = w.event_id
    order by e.id`.execute(tx);
  await sql`
    update hooks set next_due_at = least(next_due_at, now())
    where id in (select id from hooks where id = any(${hookIds}::uuid[]) order by id for no key update)`.execute(
    tx,
  );
}
