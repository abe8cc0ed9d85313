import { createHash, randomUUIDv7 } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { sentences } from "../../../../contract/sentences.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import type { ConnectionEvents } from "../../../platform/db/types.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import { cleanText } from "../sources/clean-text.ts";
import type { ServiceEvent, StoredEvent } from "./service.ts";

export type EventRow = Selectable<ConnectionEvents>;

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** A reason as it is listed. */
const listed = (reason: string | null): string | null =>
  reason === null ? null : cleanText(reason.slice(0, 1000));

/** Stores an event. @returns its id; null: it was stored before. */
export async function storeEvent(
  tx: Tx,
  encryptor: Encryptor,
  connectionId: string,
  event: ServiceEvent,
): Promise<string | null> {
  const id = randomUUIDv7();
  const payload = encryptor.encrypt(JSON.stringify(event.payload));
  const { rows } = await sql<{ id: string }>`
    insert into connection_events (id, connection_id, event_key, meeting_key, type, payload)
    values (${id}, ${connectionId}, ${hashOf(event.id)}, ${hashOf(event.meetingId)}, ${event.type}, ${payload})
    on conflict (connection_id, event_key) do update set deliveries = connection_events.deliveries + 1
    returning id`.execute(tx);
  return rows[0]?.id === id ? id : null;
}

/** A pending event that is due. */
export async function findPending(db: Executor, eventId: string): Promise<EventRow | undefined> {
  return db
    .selectFrom("connection_events")
    .selectAll()
    .where("id", "=", eventId)
    .where("state", "=", "pending")
    .where("payload", "is not", null)
    .executeTakeFirst();
}

/** Other pending events of the same meeting. */
export async function findSiblings(db: Executor, event: EventRow): Promise<EventRow[]> {
  return db
    .selectFrom("connection_events")
    .selectAll()
    .where("connection_id", "=", event.connection_id)
    .where("meeting_key", "=", event.meeting_key)
    .where("id", "<>", event.id)
    .where("state", "=", "pending")
    .where("payload", "is not", null)
    .orderBy("id")
    .limit(10)
    .execute();
}

/** Decrypts an event. */
export function openEvent(encryptor: Encryptor, { type, payload, created_at }: EventRow): StoredEvent {
  return {
    type,
    payload: payload === null ? null : JSON.parse(encryptor.decrypt(payload)),
    receivedAt: created_at,
  };
}

/**
 * Hands an event's recording over to its upload. Its content is kept until that has succeeded.
 * @param reason what of its transcript was not read.
 */
export async function setImporting(
  tx: Executor,
  eventIds: readonly string[],
  uploadId: string,
  reason: string | null,
): Promise<void> {
  await tx
    .updateTable("connection_events")
    .set({
      state: "importing",
      reason: listed(reason),
      upload_id: uploadId,
      updated_at: sql<Date>`clock_timestamp()`,
    })
    .where("id", "in", eventIds)
    .execute();
}

/** Ends an event; only a failed one keeps its content, to be tried again. */
export async function endEvent(
  tx: Executor,
  eventId: string,
  state: "done" | "ignored" | "failed",
  reason: string | null,
  uploadId: string | null = null,
): Promise<void> {
  await tx
    .updateTable("connection_events")
    .set({
      state,
      reason: listed(reason),
      ...(state === "failed" ? {} : { payload: null }),
      ...(uploadId === null ? {} : { upload_id: uploadId }),
      updated_at: sql<Date>`clock_timestamp()`,
    })
    .where("id", "=", eventId)
    .where("state", "=", "pending")
    .execute();
}

/** Leaves an event pending for later. @param isAttempt whether it counts as a failed attempt. */
export async function postponeEvent(
  db: Executor,
  eventId: string,
  { reason, delayMs, isAttempt }: { reason: string; delayMs: number; isAttempt: boolean },
): Promise<void> {
  await sql`
    update connection_events set reason = ${cleanText(reason.slice(0, 1000))},
      attempts = attempts + ${isAttempt ? 1 : 0}, updated_at = clock_timestamp(),
      next_at = clock_timestamp() + ${delayMs} * interval '1 millisecond'
    where id = ${eventId} and state = 'pending'`.execute(db);
}

/** Makes a failed event due again. @returns whether there was one. */
export async function resetEvent(
  tx: Tx,
  connectionId: string,
  eventId: string,
): Promise<EventRow | undefined> {
  const row = await tx
    .selectFrom("connection_events")
    .selectAll()
    .where("connection_id", "=", connectionId)
    .where("id", "=", eventId)
    .forUpdate()
    .executeTakeFirst();
  if (row?.state === "failed" && row.payload !== null)
    await sql`
      update connection_events set state = 'pending', attempts = 0, reason = null, upload_id = null,
        next_at = clock_timestamp(), updated_at = clock_timestamp()
      where id = ${eventId}`.execute(tx);
  return row;
}

/** Notes what has become of the uploads of events. A failed one may be imported again. */
export async function refreshEvents(db: Executor): Promise<void> {
  await sql`
    with ended as (
      update connection_events e set updated_at = clock_timestamp(),
        state = case u.status when 'success' then 'done' else 'failed' end,
        payload = case u.status when 'success' then null else e.payload end,
        reason = case when u.status = 'success' then e.reason
          else coalesce(u.failure_reason, ${sentences.event_upload_gone}) end
      from connection_events p left join uploads u on u.id = p.upload_id
      where p.state = 'importing' and e.id = p.id and e.state = 'importing'
        and (u.id is null or u.status in ('failure', 'success'))
      returning u.id, u.status)
    delete from connection_meetings m using ended
    where m.upload_id = ended.id and ended.status = 'failure'`.execute(db);
}

/** An event for the list of a connection. */
export interface ListedEvent
  extends Pick<
    EventRow,
    "id" | "type" | "state" | "reason" | "attempts" | "deliveries" | "next_at" | "created_at"
  > {
  readonly recording_id: string | null;
}

/** The latest events of a connection. */
export async function listEvents(db: Executor, connectionId: string): Promise<ListedEvent[]> {
  const { rows } = await sql<ListedEvent>`
    select e.id, e.type, e.state, e.reason, e.attempts, e.deliveries, e.next_at, e.created_at, u.recording_id
    from connection_events e left join uploads u on u.id = e.upload_id
    where e.connection_id = ${connectionId}
    order by e.created_at desc, e.id desc limit 50`.execute(db);
  return rows;
}

/** A meeting that was imported, or is. */
export interface ImportedMeeting {
  readonly has_transcript: boolean;
  readonly upload_id: string | null;
  readonly upload_status: string | null;
  readonly recording_id: string | null;
}

export async function findMeeting(
  db: Executor,
  workspaceId: string,
  source: string,
  meetingKey: Buffer,
): Promise<ImportedMeeting | undefined> {
  const { rows } = await sql<ImportedMeeting>`
    select m.has_transcript, m.upload_id, u.status as upload_status, u.recording_id
    from connection_meetings m left join uploads u on u.id = m.upload_id
    where m.workspace_id = ${workspaceId} and m.source = ${source} and m.meeting_key = ${meetingKey}`.execute(
    db,
  );
  return rows[0];
}

/** Whether the recording of an import, by the id that its source has, is in the trash. */
export async function isInTrash(db: Executor, workspaceId: string, externalId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from trashed_recordings
    where workspace_id = ${workspaceId}
      and removed -> 'imports' @> ${JSON.stringify([{ external_id: externalId }])}::jsonb limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/** Notes the upload of a meeting. */
export async function saveMeeting(
  tx: Executor,
  meeting: {
    readonly workspaceId: string;
    readonly source: string;
    readonly meetingKey: Buffer;
    readonly uploadId: string;
    readonly hasTranscript: boolean;
  },
): Promise<void> {
  await sql`
    insert into connection_meetings (workspace_id, source, meeting_key, upload_id, has_transcript)
    values (${meeting.workspaceId}, ${meeting.source}, ${meeting.meetingKey}, ${meeting.uploadId}, ${meeting.hasTranscript})
    on conflict (workspace_id, source, meeting_key) do update
      set upload_id = excluded.upload_id, has_transcript = excluded.has_transcript`.execute(tx);
}

/** How long events are listed. */
const keptFor = "30 days";

/** Deletes old events; open ones have ended long before. */
async function deleteOldEvents(db: Executor): Promise<void> {
  await sql`delete from connection_events where created_at < now() - ${keptFor}::interval`.execute(db);
}

export const deleteOldConnectionEventsKind = defineRecurringJob({
  name: "delete_old_connection_events",
  label: (i18n) => i18n.t("Delete old connection events"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => deleteOldEvents(db.kysely),
});
