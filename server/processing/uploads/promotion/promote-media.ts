import { stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { fileCause } from "../../../../contract/causes/files.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import type { MediaFacts } from "../../../platform/db/json-columns.ts";
import { defineJob } from "../../../platform/jobs/define.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { recordingObjectKey, uploadFileKey } from "../../../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../../../platform/storage/store.ts";
import { announceRecording } from "../../../recordings/recordings/announce.ts";
import { contentTypes } from "../../../recordings/recordings/media/media.ts";
import { requestMeetingMatch } from "../../../recordings/recordings/request-match.ts";
import { reportCompanionFailures, storeCompanions } from "../../integrity/companions.ts";
import {
  fingerprintOfFile,
  recordStoredFiles,
  type StoredFile,
  storeFile,
} from "../../integrity/stored-files.ts";
import { requestSummary } from "../../intelligence/index.ts";
import {
  type AudioTracks,
  MediaFailedError,
  MediaKilledError,
  type RenderResult,
  renderMedia,
} from "../../media/render/index.ts";
import { withScratch } from "../../media/scratch.ts";
import { hasSpeechModel } from "../../models/index.ts";
import { requestTranscription } from "../../transcription/index.ts";
import { ofUpload, type UploadPayload } from "../job-of-upload.ts";
import { attempt } from "../lifecycle/attempt.ts";
import { endIfDeactivated } from "../lifecycle/end-access.ts";
import { recordUploadStatus } from "../lifecycle/events.ts";
import { transition } from "../lifecycle/transition.ts";
import { removeFile } from "../lifecycle/upload-file.ts";
import { countKill, saveProgress } from "../lifecycle/work-queries.ts";
import { findUploadById } from "../media-queries.ts";
import { lockUploadById, type UploadRow } from "../queries.ts";
import { createRecording, type StoredMedia } from "./create-recording.ts";
import { detailOf, type FailureReason, failPromotion, isDataError, unfit } from "./promote.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "dataDir" | "newRecordingShareState" | "transcription" | "languageModel">;
  /** Renders a recording's files from an upload's; `renderMedia` by default. */
  readonly render?: typeof renderMedia;
}

/** After the media process has been killed this often on the same file, the file is considered the cause. */
const maxKills = 5;

/**
 * The job that turns a promoting media upload into a recording. Its files are stored first, below the id the recording
 * will have; then one transaction creates the recording and completes the upload. If the job is killed before that, its
 * next run stores the same files under the same names; files that no run returns to are removed as orphaned.
 */
export function promoteMediaJob(deps: Dependencies, uploadId: string): Promise<void> {
  return attempt(deps.db, uploadId, "promoting", (upload) => promoteMedia(deps, upload));
}

async function promoteMedia(deps: Dependencies, upload: UploadRow): Promise<void> {
  const { db, store } = deps;
  const uploadId = upload.id;
  try {
    await withScratch(deps.config.dataDir, async (scratch) => {
      const inputPath = await scratch.fetch(store, uploadFileKey(uploadId));
      const { size } = await stat(inputPath);
      const report = progressReporter(deps, upload);
      const rendered = await (deps.render ?? renderMedia)(
        {
          inputPath,
          facts: factsOf(upload),
          outDir: scratch.folder,
          audioTracks: audioTracksOf(upload),
        },
        { onProgress: report },
      );
      const { media, files } = await storeFiles(store, upload, rendered, { path: inputPath, size });
      await finishPromotion(deps, uploadId, { media, files, isIncomplete: rendered.failures.length > 0 });
      reportCompanionFailures({ recordingId: media.recording_id }, rendered);
    });
  } catch (error) {
    const reason = await reasonToGiveUp(deps, uploadId, error);
    if (reason === null) throw error;
    // If another worker was faster, the upload is no longer promoting and this does nothing.
    const detail = error instanceof MediaFailedError ? error.detail : detailOf(error);
    await failPromotion(deps, uploadId, reason, { detail });
  }
  const now = await findUploadById(db.kysely, uploadId);
  if (now?.status !== "promoting") await removeFile(store, now ?? upload);
}

/** Why the upload fails permanently; null when a retry may help. */
async function reasonToGiveUp(
  { db }: Dependencies,
  uploadId: string,
  error: unknown,
): Promise<FailureReason | null> {
  if (error instanceof MediaFailedError) return { sentence: error.message, causes: [error.cause] };
  if (error instanceof MediaKilledError) {
    const kills = await countKill(db.kysely, uploadId, "promoting");
    return kills < maxKills ? null : tooHungry;
  }
  if (isDataError(error)) return unfit;
  if (error instanceof ObjectMissingError)
    return {
      sentence: "The file was removed from the store before it became a recording.",
      causes: [fileCause("file_removed", {})],
    };
  return null;
}

const tooHungry: FailureReason = {
  sentence:
    "The file needs more memory than the server has: the system killed its processing several times. Send it again at a lower resolution, or ask the operator for more memory.",
  causes: [fileCause("memory_exceeded", {})],
};

function factsOf(upload: UploadRow) {
  if (upload.facts === null) throw new Error(`upload ${upload.id} is promoting without validated facts`);
  return upload.facts;
}

/** Stores everything the recording will show below its id. */
async function storeFiles(
  store: ObjectStore,
  upload: UploadRow,
  rendered: RenderResult,
  input: { readonly path: string; readonly size: number },
): Promise<{ media: StoredMedia; files: StoredFile[] }> {
  const recordingId = upload.planned_recording_id;
  if (recordingId === null) throw new Error(`upload ${upload.id} has no recording id planned`);
  const format = rendered.contentType === "video/mp4" ? "mp4" : "mp3";
  const mediaKey = recordingObjectKey(recordingId, `media.${format}`);
  const contentType = contentTypes[format];
  const files: StoredFile[] = [];
  if (rendered.mediaPath !== null)
    files.push(await storeFile(store, mediaKey, rendered.mediaPath, { contentType }));
  else {
    const copied = await store.copy(uploadFileKey(upload.id), mediaKey, contentType);
    // Another worker took this one for dead and has already failed the upload, and an empty object replaced the file.
    if (copied.size !== input.size) await store.putFile(mediaKey, input.path, { contentType });
    files.push({ key: mediaKey, ...(await fingerprintOfFile(input.path)) });
  }
  files.push(...(await storeCompanions(store, recordingObjectKey(recordingId, ""), rendered)));
  if (rendered.speechPath !== null) {
    const key = recordingObjectKey(recordingId, basename(rendered.speechPath));
    files.push(await storeFile(store, key, rendered.speechPath, { contentType: "audio/webm" }));
  }
  const media = {
    recording_id: recordingId,
    format,
    speaker_tracks: rendered.speechPath === null ? null : speakersOf(factsOf(upload)),
    has_storyboard: rendered.storyboard !== null,
    ends_early: upload.facts?.endsEarly ?? null,
    durationMs: rendered.durationMs,
    hasThumbnail: rendered.thumbnail !== null,
  } as const;
  return { media, files };
}

/** Creates the recording and completes the upload, unless it is no longer promoting. */
export async function finishPromotion(
  deps: Pick<Dependencies, "db" | "jobs" | "config">,
  uploadId: string,
  stored: {
    readonly media: StoredMedia;
    readonly files: readonly StoredFile[];
    /** Whether something that the recording is shown with could not be created. */
    readonly isIncomplete: boolean;
  },
): Promise<void> {
  const { db, jobs, config } = deps;
  const { media, files, isIncomplete } = stored;
  const isTranscribed = await hasSpeechModel(config);
  await db.kysely.transaction().execute(async (tx) => {
    const upload = await lockUploadById(tx, uploadId);
    if (upload?.status !== "promoting" || (await endIfDeactivated(tx, jobs, upload))) return;
    const { recordingId, hasTranscript } = await createRecording(tx, deps, upload, media);
    await recordStoredFiles(tx, { recordingId }, files);
    if (isIncomplete) await jobs.enqueue(tx, "render_companions", { recordingId }, recordingId);
    await transition(tx, jobs, upload, "promotion_completed", { recordingId });
    const hasSound = upload.facts?.audio !== null;
    if (isTranscribed && hasSound && !hasTranscript)
      await requestTranscription(tx, jobs, recordingId, upload.spoken_language);
    if (hasTranscript)
      await requestSummary(tx, jobs, config, { id: recordingId, workspaceId: upload.workspace_id });
    await announceRecording(tx, { id: recordingId, workspaceId: upload.workspace_id });
    await requestMeetingMatch(tx, jobs, { id: recordingId, workspaceId: upload.workspace_id });
  });
  jobs.wake();
}

/** What becomes of several audio tracks; uploads of the versioned API keep only the main one. */
function audioTracksOf({ import_data: data }: UploadRow): AudioTracks | undefined {
  if (data === null) return undefined;
  return data.audio_tracks === "speakers" ? "speakers" : "mix";
}

/** The names of the speakers with a track, in the order of the tracks; empty where the file has none. */
function speakersOf({ parts, audioTracks }: MediaFacts): string[] {
  const speakers = parts?.flatMap(({ speaker }) => speaker ?? []) ?? [];
  return speakers.length > 0 ? speakers : (audioTracks?.map(({ title }) => title ?? "") ?? []);
}

/**
 * Saves the progress at every twentieth, at most once a second. Uploads of the older operation report it at every tenth.
 */
function progressReporter({ db }: Dependencies, upload: UploadRow): (done: number) => void {
  let saved = 0;
  let reported = 0;
  let savedAt = Date.now();
  let last: Promise<unknown> = Promise.resolve();
  return (done) => {
    if (done < saved + 0.05 || done >= 1 || Date.now() - savedAt < 1000) return;
    saved = done;
    savedAt = Date.now();
    const isReported = upload.one_step !== null && done >= reported + 0.1;
    if (isReported) reported = done;
    last = last
      .then(() => saveProgress(db.kysely, upload.id, done))
      .then(() =>
        isReported
          ? db.kysely.transaction().execute(async (tx) => {
              const row = await lockUploadById(tx, upload.id);
              if (row?.status === "promoting") await recordUploadStatus(tx, row, done);
            })
          : undefined,
      )
      // Only a report: the upload continues, and the next report says more.
      .catch(() => {});
  };
}

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    promote_media: UploadPayload;
  }
}

export const promoteMediaKind = defineJob({
  ...ofUpload,
  name: "promote_media",
  label: (i18n) => i18n.t("Process media"),
  // Each keeps one core busy; the API needs some room as well. Reserved slots come on top.
  concurrency: Math.max(1, Math.floor(availableParallelism() / 2)),
  hasReservedSlots: true,
  handler: (deps, { uploadId }) => promoteMediaJob(deps, uploadId),
});
