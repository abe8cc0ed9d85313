import { createHash } from "node:crypto";
import { sql } from "kysely";
import { z } from "zod";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
import { serverItself } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { defineJob, defineRecurringJob, type JobOwner } from "../../../platform/jobs/define.ts";
import { hasNoJob, type JobQueue } from "../../../platform/jobs/queue.ts";
import { parseRanges } from "../../../platform/outbound/address-ranges.ts";
import { createGuardedClient, type GuardedClient } from "../../../platform/outbound/guarded-client.ts";
import { BodyBrokenError } from "../../../platform/storage/store.ts";
import { requestSummary } from "../../../processing/intelligence/index.ts";
import { supplyTranscript } from "../../../recordings/transcripts/supply.ts";
import { openDirectory } from "../runs/directory.ts";
import {
  failUpload,
  type ImportDependencies,
  importOne,
  reasonOf,
  workspaceImporter,
} from "../runs/import-one.ts";
import { nameUnnamed } from "../sources/disk.ts";
import { RecordingError } from "../sources/errors.ts";
import {
  allowedHosts,
  type ConnectionRow,
  findConnection,
  readSecrets,
  serviceOf,
  sourceOf,
} from "./connections.ts";
import {
  type EventRow,
  endEvent,
  findMeeting,
  findPending,
  findSiblings,
  type ImportedMeeting,
  isInTrash,
  openEvent,
  postponeEvent,
  refreshEvents,
  saveMeeting,
  setImporting,
} from "./events.ts";
import { TemporaryError } from "./http.ts";
import type { ServiceAccess, ServiceTranscript } from "./service.ts";

interface ConnectionJobDependencies extends ImportDependencies {
  readonly encryptor: Encryptor;
  readonly config: ImportDependencies["config"] & Pick<Config, "hooksAllowAddresses">;
  /** The follow-up work of a new transcript. */
  onTranscript(tx: Tx, recording: { readonly id: string; readonly workspaceId: string }): Promise<void>;
}

/** Delays before a failed attempt is repeated. */
const retryDelaysMs = [10_000, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000];

/** A transcript waits this long for the recording it belongs to. */
const maxWaitMs = 24 * 3_600_000;
const waitStepMs = 60_000;

/** The event can't be handled before another one was. */
class WaitError extends Error {}

interface Work {
  readonly event: EventRow;
  readonly connection: ConnectionRow;
  readonly access: ServiceAccess;
  readonly meeting: ImportedMeeting | undefined;
  /** Of the workspace's imports. */
  readonly importerId: string;
}

/**
 * The job that imports what an event of a connection reports. Killed at any point it runs again and finds what it has
 * created. What fails for now is repeated with growing delays; what fails for good is shown with its reason.
 */
async function importEventJob(
  deps: ConnectionJobDependencies,
  eventId: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, config } = deps;
  const event = await findPending(db.kysely, eventId);
  const connection = event && (await findConnection(db.kysely, event.connection_id));
  if (event === undefined || connection === undefined) return;
  const client = createGuardedClient({ allowAddresses: parseRanges(config.hooksAllowAddresses) });
  try {
    const work = await prepare(deps, event, connection, client, signal);
    if (serviceOf(connection).isTranscript(event.type)) await addTranscript(deps, work);
    else await importRecordingOf(deps, work);
  } catch (error) {
    if (signal.aborted) throw error;
    await noteError(deps, event, connection, error);
  } finally {
    await client.close();
  }
}

async function prepare(
  { db, encryptor }: ConnectionJobDependencies,
  event: EventRow,
  connection: ConnectionRow,
  client: GuardedClient,
  signal: AbortSignal,
): Promise<Work> {
  const access: ServiceAccess = {
    ...{ client, signal, baseUrl: connection.base_url, allowHosts: allowedHosts(connection) },
    secrets: decrypted(() => readSecrets(encryptor, connection)),
  };
  const { workspace_id: workspaceId } = connection;
  const meeting = await findMeeting(db.kysely, workspaceId, sourceOf(connection), event.meeting_key);
  return { event, connection, access, meeting, importerId: await findImporter(db, connection) };
}

/** The admin who created the connection, or else another one. */
async function findImporter(db: Database, connection: ConnectionRow): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select id from users
    where workspace_id = ${connection.workspace_id} and role = 'admin' and deactivated_at is null
    order by id <> ${connection.created_by}, id limit 1`.execute(db.kysely);
  const [row] = rows;
  if (row === undefined) throw new RecordingError(sentences.connection_no_admin);
  return row.id;
}

function decrypted<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new RecordingError((error as Error).message);
  }
}

async function importRecordingOf(deps: ConnectionJobDependencies, work: Work): Promise<void> {
  const { db, encryptor } = deps;
  const { event, connection, access, meeting, importerId } = work;
  const service = serviceOf(connection);
  if (meeting?.upload_id != null && underWay.includes(meeting.upload_status)) {
    // An attempt that was killed may have sent the file. The event's content is kept until the upload has succeeded.
    await setImporting(db.kysely, [event.id], meeting.upload_id, null);
    return;
  }
  if (meeting !== undefined && !isOpen(meeting)) {
    await endEvent(db.kysely, event.id, "ignored", sentences.event_imported, meeting.upload_id);
    return;
  }
  const siblings = (await findSiblings(db.kysely, event)).filter(({ type }) => service.isTranscript(type));
  const [opened, others] = decrypted(() => [
    openEvent(encryptor, event),
    siblings.map((one) => openEvent(encryptor, one)),
  ]);
  const source = await service.load(access, opened, others);
  if (source === null) {
    await endEvent(db.kysely, event.id, "ignored", sentences.event_no_recording);
    return;
  }
  const { workspace_id: workspaceId } = connection;
  const principal = workspaceImporter({ workspaceId, userId: importerId, tokenId: connection.id });
  let uploadId = "";
  await importOne(deps, {
    ...{ principal, importerId, maxAttempts: 1, source: { ...source, sharesByDefault: true } },
    externalId: externalIdOf(connection, event),
    directory: await openDirectory(db, principal, serverItself(workspaceId)),
    onCreated: async (upload) => {
      uploadId = upload.id;
      await saveMeeting(db.kysely, {
        ...{ workspaceId, uploadId, source: sourceOf(connection), meetingKey: event.meeting_key },
        hasTranscript: source.entries.length > 0,
      });
    },
  });
  const ids = [event.id, ...siblings.map(({ id }) => id)];
  await setImporting(db.kysely, ids, uploadId, describeNotes(source.notes ?? []));
}

/** Statuses of an upload whose file has arrived, and that has not ended. */
const underWay: readonly (string | null)[] = ["processing", "staged", "promoting"];

/** Whether the meeting still has to be imported: it waits for its file, or has failed. */
function isOpen({ upload_status: status }: ImportedMeeting): boolean {
  return status === "awaiting" || status === "failure";
}

/** The same for every event of a meeting, and for every connection to its service. */
function externalIdOf(connection: ConnectionRow, { meeting_key }: EventRow): string {
  const hash = createHash("sha256").update(sourceOf(connection)).update(meeting_key).digest("hex");
  return `${connection.kind}:${hash}`;
}

async function addTranscript(deps: ConnectionJobDependencies, work: Work): Promise<void> {
  const { db, encryptor } = deps;
  const { event, connection, access, meeting } = work;
  if (meeting === undefined || meeting.upload_status === "failure")
    throw new WaitError(sentences.event_waits_for_recording);
  const ignore = (reason: string): Promise<void> =>
    endEvent(db.kysely, event.id, "ignored", reason, meeting.upload_id);
  if (meeting.upload_id === null) {
    if (await isInTrash(db.kysely, connection.workspace_id, externalIdOf(connection, event)))
      throw new RecordingError(sentences.event_in_trash);
    return ignore(sentences.event_recording_deleted);
  }
  if (meeting.has_transcript) return ignore(sentences.event_has_transcript);
  if (meeting.recording_id === null) throw new WaitError(sentences.event_waits_until_ready);
  const opened = decrypted(() => openEvent(encryptor, event));
  const read = (await serviceOf(connection).loadTranscript?.(access, opened)) ?? { entries: [], notes: [] };
  const notes = await supply(deps, work, meeting.recording_id, read);
  if (notes === null) return ignore(sentences.event_edited);
  await saveMeeting(db.kysely, {
    ...{ workspaceId: connection.workspace_id, source: sourceOf(connection), meetingKey: event.meeting_key },
    ...{ uploadId: meeting.upload_id, hasTranscript: true },
  });
  await endEvent(db.kysely, event.id, "done", describeNotes(notes), meeting.upload_id);
}

function describeNotes(notes: readonly string[]): string | null {
  return notes.length === 0 ? null : sentenceOf("event_transcript_notes", { reason: notes.join(" ") });
}

/** Supplies a transcript. @returns what of it was not used; null when the present one has edits. */
async function supply(
  deps: ConnectionJobDependencies,
  { connection, importerId }: Work,
  recordingId: string,
  { entries, notes }: ServiceTranscript,
): Promise<readonly string[] | null> {
  const { db } = deps;
  const read = () =>
    db.kysely
      .selectFrom("recordings")
      .select(["duration_ms", "transcript_version"])
      .where("id", "=", recordingId)
      .executeTakeFirst();
  const recording = await read();
  if (recording === undefined) throw new RecordingError(sentences.delivery_recording_gone);
  const { transcript_version } = recording;
  const unnamed = new Map<string, string>();
  const segments = entries
    .filter(({ start }) => start <= recording.duration_ms)
    .map(({ speaker, start, end, text }) => ({ speaker: nameUnnamed(speaker, unnamed), start, end, text }));
  if (segments.length === 0)
    throw new RecordingError(
      notes.length === 0
        ? sentences.event_no_text_at_all
        : sentenceOf("event_no_text", { reason: notes.join(": ") }),
    );
  const late = entries.length - segments.length;
  const { workspace_id: workspaceId } = connection;
  const principal = workspaceImporter({ workspaceId, userId: importerId, tokenId: connection.id });
  try {
    await supplyTranscript(db, principal, recordingId, { transcript_version, segments }, deps.onTranscript);
    return late === 0 ? notes : [...notes, sentenceOf("event_late_lines", { count: late })];
  } catch (error) {
    if (!(error instanceof ProblemError) || error.code !== "wrong_state") throw error;
    if ((await read())?.transcript_version === transcript_version) return null;
    throw new TemporaryError(sentences.event_transcript_changed);
  }
}

/** Repeats the event later, or ends it with the reason. @throws the error when it is none of the event. */
async function noteError(
  deps: ConnectionJobDependencies,
  event: EventRow,
  connection: ConnectionRow,
  error: unknown,
): Promise<void> {
  const { kysely } = deps.db;
  if (error instanceof WaitError) {
    const { message: reason } = error;
    if (Date.now() - event.created_at.getTime() > maxWaitMs)
      return endEvent(kysely, event.id, "failed", sentences.event_never_arrived);
    return postponeEvent(kysely, event.id, { reason, delayMs: waitStepMs, isAttempt: false });
  }
  const isTemporary =
    error instanceof TemporaryError ||
    error instanceof BodyBrokenError ||
    // Storage becomes free when open uploads end.
    (error instanceof ProblemError && error.code === "quota_exceeded");
  const reason = error instanceof TemporaryError ? error.message : reasonOf(error);
  if (reason === null) throw error;
  const delayMs = retryDelaysMs[event.attempts];
  if (isTemporary && delayMs !== undefined)
    return postponeEvent(kysely, event.id, { reason, delayMs, isAttempt: true });
  await endUpload(deps, event, connection, reason);
  await endEvent(kysely, event.id, "failed", reason);
}

/** Ends an upload that would wait for its file for a day. */
async function endUpload(
  deps: ConnectionJobDependencies,
  event: EventRow,
  connection: ConnectionRow,
  reason: string,
): Promise<void> {
  const { kysely } = deps.db;
  const meeting = await findMeeting(kysely, connection.workspace_id, sourceOf(connection), event.meeting_key);
  if (meeting?.upload_status === "awaiting" && meeting.upload_id !== null)
    await failUpload(deps, meeting.upload_id, reason);
}

/** Most events that are queued at a time. */
const batch = 200;

/** Notes what has become of imported events, and queues those that are due. */
async function continueEvents(db: Database, jobs: JobQueue): Promise<void> {
  await refreshEvents(db.kysely);
  const { rows } = await sql<{ id: string }>`
    select id from connection_events
    where state = 'pending' and next_at <= clock_timestamp() and payload is not null
      and ${hasNoJob("import_connection_event", sql`connection_events.id`)}
    order by next_at limit ${batch}`.execute(db.kysely);
  for (const { id } of rows)
    await db.kysely
      .transaction()
      .execute((tx) => jobs.enqueue(tx, "import_connection_event", { connectionEventId: id }, id));
  if (rows.length > 0) jobs.wake();
}

const payload = z.object({ connectionEventId: z.string() });

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    import_connection_event: z.infer<typeof payload>;
  }
}

export const importConnectionEventKind = defineJob({
  name: "import_connection_event",
  label: (i18n) => i18n.t("Import from a connection"),
  schema: payload,
  subject: "connection_event",
  owner: ({ connectionEventId }) => sql<JobOwner>`
    select c.workspace_id, c.created_by as user_id
    from connection_events e join connections c on c.id = e.connection_id where e.id = ${connectionEventId}`,
  concurrency: 2,
  hasReservedSlots: true,
  guard: "original",
  discard: {
    lost: (i18n) => i18n.t("The event fails. It can be retried in Settings → Connections."),
    async end(tx, _context, eventId) {
      await sql`
        update connection_events set state = 'failed', reason = 'An admin stopped the import of this event.'
        where id = ${eventId} and state = 'pending'`.execute(tx);
      return null;
    },
  },
  handler: (deps, { connectionEventId }) =>
    importEventJob(
      {
        ...deps,
        onTranscript: (tx, recording) => requestSummary(tx, deps.jobs, deps.config, recording),
      },
      connectionEventId,
      deps.signal,
    ),
});

export const continueConnectionEventsKind = defineRecurringJob({
  name: "continue_connection_events",
  label: (i18n) => i18n.t("Continue connection events"),
  every: "sweep",
  guard: "original",
  handler: ({ db, jobs }) => continueEvents(db, jobs),
});
