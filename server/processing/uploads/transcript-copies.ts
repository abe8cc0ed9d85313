import { sql } from "kysely";
import type { TranscriptInput } from "../../../contract/uploads/uploads.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Executor } from "../../platform/db/database.ts";
import type { TranscriptInfo } from "../../platform/db/json-columns.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { findUploadTranscripts, lockUploadById, type UploadRow } from "./queries.ts";
import { anonymousSpeakers } from "./speakers.ts";

/** Uploads per run; a transcript may take 12 MB. */
const batch = 100;

/**
 * Removes the transcript copies of uploads that became recordings longer ago than the stale-upload limit: the recording
 * has the transcript. Each upload is a transaction of its own.
 * @returns how many copies were removed.
 */
export async function removeTranscriptCopies(
  db: Database,
  { staleUploadTtlMs }: Pick<Config, "staleUploadTtlMs">,
): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select id from uploads where status = 'success' and not is_transcript_removed
      and updated_at < now() - ${staleUploadTtlMs} * interval '1 millisecond'
    order by updated_at limit ${batch}`.execute(db.kysely);
  for (const { id } of rows)
    await db.kysely.transaction().execute(async (tx) => {
      const upload = await lockUploadById(tx, id);
      if (upload?.status !== "success" || upload.is_transcript_removed) return;
      const transcript = (await findUploadTranscripts(tx, [id])).get(id);
      const info: TranscriptInfo | null = transcript
        ? {
            language: transcript.language,
            bytes: Buffer.byteLength(JSON.stringify(transcript.segments)),
            speakers: anonymousSpeakers(transcript.segments, upload.participants),
          }
        : null;
      await tx
        .updateTable("uploads")
        .set({ is_transcript_removed: true, transcript_info: info && JSON.stringify(info) })
        .where("id", "=", id)
        .execute();
      await tx.deleteFrom("upload_transcripts").where("upload_id", "=", id).execute();
    });
  return rows.length;
}

/** Transcripts of these uploads by upload id: the copy, or the recording's once the copy is removed. */
export async function findTranscripts(
  db: Executor,
  uploads: readonly UploadRow[],
): Promise<Map<string, TranscriptInput>> {
  const found = await findUploadTranscripts(
    db,
    uploads.map(({ id }) => id),
  );
  for (const upload of uploads) {
    const transcript = found.has(upload.id) ? undefined : await findRecordingTranscript(db, upload);
    if (transcript !== undefined) found.set(upload.id, transcript);
  }
  return found;
}

/**
 * The transcript of an upload whose copy is removed, from its recording: with later edits, and with the upload's
 * speaker keys.
 * @returns undefined when the upload had none.
 */
async function findRecordingTranscript(
  db: Executor,
  upload: Pick<UploadRow, "recording_id" | "participants" | "transcript_info">,
): Promise<TranscriptInput | undefined> {
  const info = upload.transcript_info;
  if (info === null || upload.recording_id === null) return undefined;
  const { rows } = await sql<{
    position: number | null;
    speaker: string;
    start: number;
    end: number;
    text: string;
  }>`
    select p.position, s.speaker, s.start_ms as start, s.end_ms as "end", s.text
    from transcript_segments s left join participants p on p.id = s.participant_id
    where s.recording_id = ${upload.recording_id} order by s.position`.execute(db);
  const keys = new Map(info.speakers.map(({ name, speaker_key }) => [name, speaker_key]));
  return {
    language: info.language,
    segments: rows.map(({ position, speaker, ...segment }) => ({
      // A participant who was added to the recording later has no key from the upload.
      speaker_key: upload.participants[position ?? -1]?.speaker_key ?? keys.get(speaker) ?? speaker,
      ...segment,
    })),
  };
}

export const removeTranscriptCopiesKind = defineRecurringJob({
  name: "remove_transcript_copies",
  label: (i18n) => i18n.t("Remove transcript copies"),
  every: "1 h",
  guard: "age",
  async handler({ db, config, log }) {
    const count = await removeTranscriptCopies(db, config);
    if (count > 0) log.info({ count }, "removed copies of transcripts that recordings have");
  },
});
