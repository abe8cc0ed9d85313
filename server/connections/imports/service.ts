import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { z } from "zod";
import { toTimestamp } from "../../../contract/common.ts";
import { completeFields, normalizeFields } from "../../../contract/recordings/fields.ts";
import { uniqueTags } from "../../../contract/recordings/tag.ts";
import type {
  ImportInput,
  updateImport as updateImportOperation,
} from "../../../contract/uploads/imports.ts";
import { languageOf } from "../../../contract/workspace/spoken-language.ts";
import { formatOf, likelyMediaType, type MediaFormat } from "../../../shared/files/media-formats.ts";
import { titleOfPath } from "../../../shared/files/recording-title.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import type {
  ImportData,
  ImportedData,
  ImportedHighlight,
  ParticipantExtra,
  UploadParticipant,
} from "../../platform/db/json-columns.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { defaultTitle } from "../../processing/uploads/api/attributes.ts";
import { recordUploadAdded, recordUploadUpdated } from "../../processing/uploads/lifecycle/events.ts";
import { canUpdate } from "../../processing/uploads/lifecycle/state.ts";
import { advance, stateOf } from "../../processing/uploads/lifecycle/transition.ts";
import {
  deleteUploadTranscript,
  insertUpload,
  lockUpload,
  saveImportData,
  saveUploadTranscript,
  type UploadRow,
} from "../../processing/uploads/queries.ts";
import { checkUploadQuotas, type UploadQuotas } from "../../processing/uploads/quotas.ts";
import { type FileSettings, planFile } from "../../processing/uploads/transfer/file-plan.ts";
import { readMediaUrl } from "./media-url.ts";
import { canNameObjects } from "./violations.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: FileSettings & UploadQuotas & Pick<Config, "s3">;
}

/** What a recording that is moved here has beyond the attributes of an import. */
export interface ImportedFrom {
  readonly data: ImportedData;
  /** Of each participant, in their order, what an import doesn't say. */
  readonly participants: readonly Pick<ParticipantExtra, "scope" | "is_invited">[];
}

/**
 * Creates an import: an upload with more attributes, processed the same way. An existing import with the same
 * external_id is returned as it is, whatever else the request says.
 * @returns the upload, and whether it was created now.
 */
export async function importRecording(
  deps: Dependencies,
  principal: Principal,
  input: ImportInput,
  moved?: ImportedFrom,
): Promise<{ row: UploadRow; created: boolean }> {
  const { db, jobs } = deps;
  if (input.media?.url !== undefined && !canNameObjects(principal))
    throw new ProblemError(
      "forbidden",
      "only admins and workspace tokens may import files from the object store; leave out media.url and send the file",
    );
  if (input.notes !== undefined && principal.scope === "workspace") throw notesForbidden();
  const answer = await db.kysely.transaction().execute(async (tx) => {
    const existing = await findExisting(tx, principal, input.external_id);
    if (existing !== undefined) return { row: existing, created: false };
    return { row: await begin(tx, deps, principal, input, moved), created: true };
  });
  jobs.wake();
  return answer;
}

/** Serializes requests with the same external_id, so that the second finds what the first created. */
async function findExisting(
  tx: Tx,
  principal: Principal,
  externalId: string | undefined,
): Promise<UploadRow | undefined> {
  if (externalId === undefined) return undefined;
  const owner = principal.scope === "personal" ? principal.userId : principal.workspaceId;
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`import:${owner}:${externalId}`}, 0))`.execute(tx);
  const row = await tx
    .selectFrom("uploads")
    .selectAll()
    .where("workspace_id", "=", principal.workspaceId)
    .where("scope", "=", principal.scope)
    .$if(principal.scope === "personal", (query) => query.where("created_by", "=", principal.userId))
    .where("external_id", "=", externalId)
    .where("status", "<>", "failure")
    .executeTakeFirst();
  return row;
}

async function begin(
  tx: Tx,
  { jobs, store, config }: Dependencies,
  principal: Principal,
  input: ImportInput,
  moved: ImportedFrom | undefined,
): Promise<UploadRow> {
  const { media } = input;
  const format = media === undefined ? null : likelyFormat(media);
  const mediaType = format === null ? "transcript" : likelyMediaType(format);
  const start = input.start_datetime === undefined ? null : new Date(toTimestamp(input.start_datetime));
  const given = input.title?.trim() || undefined;
  const named = titleOfPath(media?.name ?? media?.url ?? "", input.source === "zoom") || undefined;
  const mediaKey = media?.url === undefined ? null : keyOf(media.url, principal, store, config);
  const recorders = input.recorder_ids?.map((id) => id.toLowerCase()) ?? [];
  await checkUploadQuotas(tx, config, principal, format !== null);
  const created = await insertUpload(tx, {
    id: randomUUIDv7(),
    workspace_id: principal.workspaceId,
    created_by: principal.userId,
    scope: principal.scope,
    media_type: mediaType,
    title: given ?? named ?? defaultTitle(mediaType, start ?? new Date()),
    has_default_title: given === undefined && named === undefined,
    auto_promote: input.auto_promote ?? true,
    start_datetime: start,
    team_id: null,
    recorder_ids: recorders.length > 0 ? [...new Set(recorders)] : [principal.userId],
    participants: (input.participants ?? speakersOf(input)).map((person, index) => {
      const participant = toParticipant(person);
      const extra = moved?.participants[index];
      return extra === undefined
        ? participant
        : { ...participant, extra: { ...participant.extra, ...extra } };
    }),
    import_data: {
      ...dataOf(input, format, mediaKey),
      ...(given === undefined && media !== undefined ? { derived_title: named ?? null } : {}),
      ...(moved === undefined ? {} : { moved: moved.data }),
    },
    external_id: input.external_id ?? null,
    spoken_language: languageOf(input.spoken_language ?? "auto"),
    ...(format === null ? {} : { file: await planFile(tx, config, principal.workspaceId) }),
  });
  if (input.transcript) await saveUploadTranscript(tx, created.id, input.transcript);
  await recordUploadAdded(tx, created);
  const row = await advance(tx, jobs, created);
  if (mediaKey !== null) await jobs.enqueue(tx, "fetch_import", { uploadId: row.id }, row.id);
  return row;
}

/** What the file most likely is, until its content is known. */
function likelyFormat({ format, url = "", name = "" }: NonNullable<ImportInput["media"]>): MediaFormat {
  return format ?? formatOf(url) ?? formatOf(name) ?? "mp4";
}

/** The speakers that have a file of their own take part. */
function speakersOf({ media }: ImportInput): { name: string }[] {
  const names = media?.parts?.flatMap(({ speaker }) => speaker?.trim() || []) ?? [];
  return [...new Set(names)].map((name) => ({ name }));
}

function keyOf(url: string, principal: Principal, store: ObjectStore, config: Pick<Config, "s3">): string {
  const found = readMediaUrl(url, principal.workspaceId, store, config.s3?.bucket ?? null);
  if ("fault" in found) throw new Error("the route accepts no other URLs");
  return found.key;
}

function dataOf(input: ImportInput, format: MediaFormat | null, mediaKey: string | null): ImportData {
  const type = input.meeting_type_id;
  return {
    format,
    file: {
      name: input.media?.name ?? null,
      modified: input.media?.modified_datetime ? toTimestamp(input.media.modified_datetime) : null,
      timeZone: input.media?.time_zone ?? null,
    },
    audio_tracks: input.media?.audio_tracks ?? "mix",
    parts: input.media?.parts?.map(({ bytes, speaker = null }) => ({ bytes, speaker })) ?? null,
    media_key: mediaKey,
    // All of them, as earlier versions expect them.
    ...completeFields({ source: "other", ...normalizeFields(input) }),
    share_state: input.share_state ?? null,
    team_ids: [...new Set((input.team_ids ?? []).map((id) => id.toLowerCase()))],
    meeting_type_id: type === undefined || type === "auto" ? null : type.toLowerCase(),
    screenshares: input.screenshares ?? [],
    highlights: (input.highlights ?? []).map(toHighlight),
    notes: input.notes ?? null,
  };
}

function toHighlight(highlight: NonNullable<ImportInput["highlights"]>[number]): ImportedHighlight {
  const { text, timestamp, duration, tags } = highlight;
  return { text, start: timestamp, duration, tags: uniqueTags(tags ?? []) };
}

/**
 * Changes the given fields of an import before it becomes a recording.
 * @throws ProblemError `not_found`, `wrong_state`
 */
export function updateImport(
  { db }: Pick<Dependencies, "db">,
  principal: Principal,
  importId: string,
  { audio_tracks: audioTracks, highlights, notes, transcript }: z.output<typeof updateImportOperation.body>,
): Promise<UploadRow> {
  if (notes !== undefined && principal.scope === "workspace") throw notesForbidden();
  return db.kysely.transaction().execute(async (tx) => {
    const row = await lockUpload(tx, principal, importId);
    if (row?.import_data == null) throw importNotFound(importId);
    if (!canUpdate(stateOf(row)))
      throw new ProblemError(
        "wrong_state",
        `import ${importId} is ${row.status}; it can be changed while awaiting, or staged with auto_promote false`,
      );
    const updated = await saveImportData(tx, importId, {
      ...row.import_data,
      ...(audioTracks == null ? {} : { audio_tracks: audioTracks }),
      ...(highlights == null ? {} : { highlights: highlights.map(toHighlight) }),
      ...(notes === undefined ? {} : { notes }),
    });
    if (
      transcript === null &&
      row.media_type !== "transcript" &&
      (await deleteUploadTranscript(tx, importId))
    )
      await recordUploadUpdated(tx, updated);
    return updated;
  });
}

function notesForbidden(): ProblemError {
  return new ProblemError("forbidden", "notes belong to a user; use a personal access token");
}

/** The same response whether the import does not exist or the caller may not see it. */
export function importNotFound(importId: string): ProblemError {
  return new ProblemError("not_found", `there is no import ${importId} that this token can see`);
}

type ImportedParticipant = NonNullable<ImportInput["participants"]>[number];

function toParticipant(person: ImportedParticipant): UploadParticipant {
  const time = (text: string | null | undefined) => (text ? toTimestamp(text) : null);
  const extra: ParticipantExtra = {
    crm_contact_id: person.crm_contact_id ?? null,
    observed_join_time: time(person.observed_join_time),
    observed_leave_time: time(person.observed_leave_time),
    ...(person.confirmed_attendee === undefined ? {} : { confirmed_attendee: person.confirmed_attendee }),
    ...(person.attended === undefined ? {} : { attended: person.attended }),
    ...(isOnlyInvited(person) ? { attended: false, is_invited: true } : {}),
  };
  return {
    name: person.name ?? null,
    email: person.email ?? null,
    phone: person.phone ?? null,
    speaker_key: person.speaker_key ?? null,
    extra,
  };
}

/** A sender who says that they took part makes an invitation more than that. */
function isOnlyInvited({ is_invited, attended, confirmed_attendee }: ImportedParticipant): boolean {
  return is_invited === true && attended !== true && confirmed_attendee !== true;
}
