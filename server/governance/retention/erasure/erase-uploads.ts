import { randomUUID } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { foldCase, foldName } from "../../../../shared/fold-case.ts";
import { splitMentions } from "../../../../shared/mentions.ts";
import { redactDeliveries } from "../../../people/events/delete.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import type { ImportedComment, ImportedData, UploadParticipant } from "../../../platform/db/json-columns.ts";
import { recordUploadUpdated } from "../../../processing/uploads/lifecycle/events.ts";
import {
  findUploadsById,
  findUploadTranscripts,
  saveUploadTranscript,
  type UploadRow,
} from "../../../processing/uploads/queries.ts";
import { erasedMention } from "../../../recordings/comments/erase.ts";
import { type DataSubject, erasedName, erasedWords } from "./data-subject.ts";

/**
 * Redacts a person from uploads that are not recordings yet: from the participants and from the supplied transcript.
 * @returns how many changed.
 */
export async function eraseFromUnfinished(
  tx: Tx,
  { workspaceId, email, names, userId }: DataSubject,
): Promise<number> {
  if (userId !== null) {
    await eraseNotesAndShares(tx, workspaceId, userId);
    await eraseImportedComments(tx, workspaceId, { id: userId, names });
  }
  const ids = await unfinishedWith(tx, workspaceId, email, sql`for update`);
  const uploads = await findUploadsById(tx, ids);
  const transcripts = await findUploadTranscripts(tx, ids);
  for (const upload of uploads.values()) {
    const theirKeys = new Map<string, string>();
    const participants = upload.participants.map((participant): UploadParticipant => {
      if (!isSubject(participant, email)) return participant;
      // Keys may be names or emails themselves.
      const { speaker_key: before } = participant;
      if (before === null) return withoutIdentity(participant);
      const key = theirKeys.get(before) ?? `erased-${randomUUID()}`;
      theirKeys.set(before, key);
      return { ...withoutIdentity(participant), speaker_key: key };
    });
    const transcript = transcripts.get(upload.id);
    if (transcript !== undefined && theirKeys.size > 0) {
      const segments = transcript.segments.map((segment) => {
        const key = theirKeys.get(segment.speaker_key);
        return key === undefined ? segment : { ...segment, speaker_key: key, text: erasedWords };
      });
      await saveUploadTranscript(tx, upload.id, { ...transcript, segments });
    }
    await writeParticipants(tx, upload.id, participants);
    const theirs = upload.participants.filter((participant) => isSubject(participant, email));
    const keys = new Set([...names, ...theirs.map(({ name }) => name ?? "")].map(foldName));
    await eraseImported(tx, upload, keys);
    await redactDeliveries(tx, [], [upload.id]);
    const changed = (await findUploadsById(tx, [upload.id])).get(upload.id);
    if (changed !== undefined) await recordUploadUpdated(tx, changed);
  }
  return uploads.size;
}

/** Redacts what an import brings for its recording: what may quote the person, and their name. */
async function eraseImported(
  tx: Tx,
  { id, import_data: data }: Pick<UploadRow, "id" | "import_data">,
  names: ReadonlySet<string>,
): Promise<void> {
  if (data?.moved === undefined) return;
  const { moved } = data;
  const speakers = Object.entries(moved.speakers).map(([key, name]) => [
    key,
    names.has(foldName(name)) ? erasedName : name,
  ]);
  const rest: ImportedData = {
    ...moved,
    ...{
      ai_summary: null,
      ai_summary_points: null,
      ai_action_items: [],
      ai_template_sections: [],
      ai_chapters: [],
      word_times: null,
    },
    highlights: moved.highlights.map((highlight) => ({ ...highlight, text: erasedWords })),
    speakers: Object.fromEntries(speakers),
  };
  await sql`
    update uploads set import_data = jsonb_set(import_data, '{moved}', ${JSON.stringify(rest)}::jsonb)
    where id = ${id}`.execute(tx);
}

/** Removes a user's private notes and shares from all imports that are not recordings yet. */
async function eraseNotesAndShares(tx: Tx, workspaceId: string, userId: string): Promise<void> {
  await sql`
    update uploads set import_data = import_data - 'notes'
    where workspace_id = ${workspaceId} and created_by = ${userId} and import_data ? 'notes'`.execute(tx);
  await sql`
    update uploads u set import_data = jsonb_set(u.import_data, '{moved}', u.import_data -> 'moved'
      || jsonb_build_object(
        'shared_user_ids', (u.import_data #> '{moved,shared_user_ids}') - ${userId}::text,
        'private_notes', (select coalesce(jsonb_agg(n), '[]')
          from jsonb_array_elements(u.import_data #> '{moved,private_notes}') n
          where n ->> 'user_id' <> ${userId}::text)))
    where u.workspace_id = ${workspaceId} and u.recording_id is null and u.import_data ? 'moved'
      and (u.import_data #> '{moved,shared_user_ids}' ? ${userId}::text
        or u.import_data #> '{moved,private_notes}' @> jsonb_build_array(jsonb_build_object('user_id', ${userId}::text)))`.execute(
    tx,
  );
}

/**
 * Removes a user's comments, reactions and mentions from all imports that are not recordings yet, as `eraseFromComments` does
 * from recordings. Comments keep their places, because replies refer to them by index.
 */
async function eraseImportedComments(
  tx: Tx,
  workspaceId: string,
  { id: userId, names }: { readonly id: string; readonly names: readonly string[] },
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from uploads
    where workspace_id = ${workspaceId} and recording_id is null
      and strpos(import_data #>> '{moved,comments}', ${userId}) > 0
    order by id for update`.execute(tx);
  const named = names.map((name) => ({ name }));
  const withoutName = (text: string): string =>
    splitMentions(text, named)
      .map((part) => (typeof part === "string" ? part : erasedMention))
      .join("");
  for (const { id } of rows) {
    const data = (await findUploadsById(tx, [id])).get(id)?.import_data;
    const comments = data?.moved?.comments?.map((comment): ImportedComment => {
      const isTheirs = comment.user_id === userId;
      const isMentioned = comment.mentioned_ids.includes(userId);
      return {
        ...comment,
        user_id: isTheirs ? null : comment.user_id,
        text: isTheirs ? "" : isMentioned ? withoutName(comment.text) : comment.text,
        mentioned_ids: isTheirs ? [] : comment.mentioned_ids.filter((one) => one !== userId),
        reactions: isTheirs ? [] : comment.reactions.filter(({ user_id }) => user_id !== userId),
        resolved_by: comment.resolved_by === userId ? null : comment.resolved_by,
      };
    });
    if (comments !== undefined)
      await sql`
        update uploads set import_data = jsonb_set(import_data, '{moved,comments}', ${JSON.stringify(comments)}::jsonb)
        where id = ${id}`.execute(tx);
  }
}

/** Uploads that are not recordings yet and name a person, ordered by id. */
export async function unfinishedWith(
  db: Executor,
  workspaceId: string,
  email: string,
  lock: RawBuilder<unknown> = sql``,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from uploads
    where workspace_id = ${workspaceId} and recording_id is null
      and exists (select 1 from jsonb_array_elements(participants) p where parley_lower(p ->> 'email') = parley_lower(${email}))
    order by id ${lock}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Redacts a person from the uploads a recording came from. Their transcripts are deleted: nothing reads them any more, and
 * speakers may have been identified since.
 * @param names the person's names in the recording.
 * @returns the ids of these uploads.
 */
export async function eraseFromFinished(
  tx: Tx,
  recordingId: string,
  email: string,
  names: ReadonlySet<string>,
): Promise<string[]> {
  const { rows } = await sql<{ id: string; participants: UploadParticipant[] }>`
    select id, participants from uploads where recording_id = ${recordingId} order by id for update`.execute(
    tx,
  );
  for (const { id, participants } of rows) {
    await tx.deleteFrom("upload_transcripts").where("upload_id", "=", id).execute();
    await tx
      .updateTable("uploads")
      .set({ transcript_info: null, is_transcript_removed: true })
      .where("id", "=", id)
      .execute();
    const isTheirs = (participant: UploadParticipant): boolean =>
      isSubject(participant, email) ||
      (participant.email === null && names.has(foldName(participant.name ?? "")));
    await writeParticipants(
      tx,
      id,
      participants.map((participant) =>
        isTheirs(participant) ? { ...withoutIdentity(participant), speaker_key: null } : participant,
      ),
    );
  }
  return rows.map(({ id }) => id);
}

function isSubject({ email }: UploadParticipant, wanted: string): boolean {
  return email != null && foldCase(email) === foldCase(wanted);
}

function withoutIdentity(participant: UploadParticipant): UploadParticipant {
  const { extra } = participant;
  return {
    ...participant,
    name: erasedName,
    email: null,
    phone: null,
    ...(extra === undefined ? {} : { extra: { ...extra, crm_contact_id: null } }),
  };
}

async function writeParticipants(tx: Tx, uploadId: string, participants: UploadParticipant[]): Promise<void> {
  await sql`
    update uploads set participants = ${JSON.stringify(participants)}::jsonb, updated_at = clock_timestamp()
    where id = ${uploadId}`.execute(tx);
}
