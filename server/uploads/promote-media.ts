import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { requestUnderstanding } from "../intelligence/index.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { MediaFailedError, MediaKilledError, type RenderResult, renderMedia } from "../media/render/index.ts";
import { withScratch } from "../media/scratch.ts";
import { contentTypes } from "../recordings/media.ts";
import { recordingObjectKey, uploadFileKey } from "../storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../storage/store.ts";
import { requestTranscription } from "../transcription/index.ts";
import { attempt } from "./attempt.ts";
import { createRecording, type MadeMedia } from "./make-recording.ts";
import { findUploadById } from "./media-queries.ts";
import { recordUploadStatus } from "./one-step-status.ts";
import { failPromotion, isDataError, unfitReason } from "./promote.ts";
import { lockUploadById, type UploadRow } from "./queries.ts";
import { transition } from "./transition.ts";
import { removeFile } from "./upload-file.ts";
import { countKill } from "./work-queries.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "dataDir" | "newRecordingShareState" | "transcription" | "languageModel">;
  /** What makes a recording's files of an upload's; `renderMedia` by default. */
  readonly render?: typeof renderMedia;
}

/** When the media program has been killed so often at the same file, it is taken to be the file's doing. */
const mostKills = 5;

/**
 * The job that turns a promoting media upload into a recording. Its files are stored first, below the id the
 * recording will have; then one transaction makes the recording and ends the upload. Killed before that, the job runs
 * again and stores the same files under the same names; what nobody comes back for is swept as orphaned.
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
        { inputPath, facts: factsOf(upload), outDir: scratch.folder },
        { onProgress: report },
      );
      const media = await storeFiles(store, upload, rendered, { path: inputPath, size });
      await finish(deps, uploadId, media);
    });
  } catch (error) {
    const reason = await reasonToGiveUp(deps, uploadId, error);
    if (reason === null) throw error;
    // Where another worker was faster, the upload is promoting no more, and this does nothing.
    await failPromotion(deps, uploadId, reason);
  }
  const now = await findUploadById(db.kysely, uploadId);
  if (now?.status !== "promoting") await removeFile(store, now ?? upload);
}

/** Why the upload fails for good; null when trying again may help. */
async function reasonToGiveUp(
  { db }: Dependencies,
  uploadId: string,
  error: unknown,
): Promise<string | null> {
  if (error instanceof MediaFailedError) return error.message;
  if (error instanceof MediaKilledError) {
    const kills = await countKill(db.kysely, uploadId, "promoting");
    return kills < mostKills ? null : tooHungryReason;
  }
  if (isDataError(error)) return unfitReason;
  if (error instanceof ObjectMissingError)
    return "The file was removed from the store before it became a recording.";
  return null;
}

export const tooHungryReason =
  "The file needs more memory than the server has: processing it was ended by the system several times. Send it again with a smaller picture, or ask the operator for more memory.";

function factsOf(upload: UploadRow) {
  if (upload.facts === null) throw new Error(`upload ${upload.id} is promoting without having been checked`);
  return upload.facts;
}

/** Puts everything the recording will show below its id. */
async function storeFiles(
  store: ObjectStore,
  upload: UploadRow,
  rendered: RenderResult,
  input: { readonly path: string; readonly size: number },
): Promise<MadeMedia> {
  const recordingId = upload.planned_recording_id;
  if (recordingId === null) throw new Error(`upload ${upload.id} has no recording planned`);
  const format = rendered.contentType === "video/mp4" ? "mp4" : "mp3";
  const mediaKey = recordingObjectKey(recordingId, `media.${format}`);
  const contentType = contentTypes[format];
  if (rendered.mediaPath !== null) await store.putFile(mediaKey, rendered.mediaPath, { contentType });
  else {
    const copied = await store.copy(uploadFileKey(upload.id), mediaKey, contentType);
    // A worker that took this one for dead has ended the upload, and an empty object was in the file's place already.
    if (copied.size !== input.size) await store.putFile(mediaKey, input.path, { contentType });
  }
  const put = (path: string, contentType: string) =>
    store.putFile(recordingObjectKey(recordingId, basename(path)), path, { contentType });
  if (rendered.thumbnail) await put(rendered.thumbnail.path, "image/jpeg");
  if (rendered.waveform) await put(rendered.waveform.path, "application/json");
  if (rendered.storyboard) {
    for (const sheet of rendered.storyboard.paths) await put(sheet, "image/jpeg");
    await put(rendered.storyboard.indexPath, "application/json");
  }
  return {
    recording_id: recordingId,
    format,
    has_storyboard: rendered.storyboard !== null,
    durationMs: rendered.durationMs,
    hasThumbnail: rendered.thumbnail !== null,
  };
}

async function finish(deps: Dependencies, uploadId: string, media: MadeMedia): Promise<void> {
  const { db, jobs, config } = deps;
  await db.kysely.transaction().execute(async (tx) => {
    const upload = await lockUploadById(tx, uploadId);
    if (upload?.status !== "promoting") return;
    const { recordingId, hasTranscript } = await createRecording(tx, deps, upload, media);
    await transition(tx, jobs, upload, "promotion_completed", { recordingId });
    const hasSound = upload.facts?.audio !== null;
    if (config.transcription !== null && hasSound && !hasTranscript)
      await requestTranscription(tx, jobs, recordingId);
    if (hasTranscript)
      await requestUnderstanding(tx, jobs, config, { id: recordingId, workspaceId: upload.workspace_id });
  });
  jobs.wake();
}

/** Uploads of the older operation report how far they are: at every tenth, and not more than once a second. */
function progressReporter({ db }: Dependencies, upload: UploadRow): (done: number) => void {
  let told = 0;
  let toldAt = Date.now();
  let last: Promise<unknown> = Promise.resolve();
  return (done) => {
    if (upload.one_step === null || done < told + 0.1 || done >= 1 || Date.now() - toldAt < 1000) return;
    told = done;
    toldAt = Date.now();
    last = last
      .then(() =>
        db.kysely.transaction().execute(async (tx) => {
          const row = await lockUploadById(tx, upload.id);
          if (row?.status === "promoting") await recordUploadStatus(tx, row, done);
        }),
      )
      // Only a report: the upload goes on, and the next one says more.
      .catch(() => {});
  };
}
