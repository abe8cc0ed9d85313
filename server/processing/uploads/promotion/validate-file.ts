import { buffer } from "node:stream/consumers";
import { fileCause } from "../../../../contract/causes/files.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import type { MediaFacts, StartTime } from "../../../platform/db/json-columns.ts";
import { defineJob } from "../../../platform/jobs/define.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import type { MediaExpectation, MediaSource, ValidationResult } from "../../media/facts.ts";
import { withScratch } from "../../media/scratch.ts";
import { validateMedia } from "../../media/validate/index.ts";
import { validateAny, validateParts } from "../../media/validate-any.ts";
import { defaultTitle } from "../api/attributes.ts";
import { ofUpload, type UploadPayload } from "../job-of-upload.ts";
import { attempt } from "../lifecycle/attempt.ts";
import { transition } from "../lifecycle/transition.ts";
import { removeFile } from "../lifecycle/upload-file.ts";
import { lockUploadById, type UploadRow } from "../queries.ts";
import { countArrivedFile } from "../quotas.ts";
import { findStart } from "../start-time.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "dataDir" | "stagedMediaTtlMs" | "storageBytesPerWorkspace">;
}

/**
 * The job that validates the file of a processing upload. It changes nothing until the result is saved in one
 * transaction; if killed before, it starts over.
 */
export function validateUploadJob(deps: Dependencies, uploadId: string): Promise<void> {
  return attempt(deps.db, uploadId, "processing", (upload) => validateAndSave(deps, upload));
}

async function validateAndSave(deps: Dependencies, upload: UploadRow): Promise<void> {
  const { db, jobs, store, config } = deps;
  const uploadId = upload.id;
  const key = uploadFileKey(uploadId);
  const size = (await store.head(key))?.size;
  const result = await validateFile(deps, { key, size }, upload);
  const failed = await db.kysely.transaction().execute(async (tx) => {
    const row = await lockUploadById(tx, uploadId);
    if (row?.status !== "processing") return null;
    if (result.ok) {
      const start = findStart(result.facts, row.import_data?.file);
      const mustAsk = row.import_data?.audio_tracks === "ask" && result.facts.audioTracks !== undefined;
      await transition(tx, jobs, row, "file_validated", {
        facts: start === undefined ? result.facts : { ...result.facts, start },
        title: titleFor(row, result.facts, start),
        startDatetime: start === undefined ? undefined : new Date(start.at),
        mustBeReviewed: mustAsk,
        mediaExpiresAt: new Date(Date.now() + config.stagedMediaTtlMs),
      });
      return null;
    }
    return transition(tx, jobs, row, "processing_failed", {
      failureReason: result.reason,
      failureCauses: result.causes,
      failureFacts: { ...result, bytes: size },
    });
  });
  jobs.wake();
  if (failed !== null) await removeFile(store, failed);
}

/** The title of a recording whose sender chose none, now that its file is known; undefined: it stays. */
function titleFor(
  row: UploadRow,
  facts: MediaFacts,
  start: StartTime | undefined,
): { readonly text: string; readonly isDefault: boolean } | undefined {
  const derived = row.import_data?.derived_title;
  const isChosen = derived === undefined || !(row.has_default_title || row.title === derived);
  if (isChosen) return undefined;
  if (facts.title !== undefined) return { text: facts.title, isDefault: false };
  const at = row.start_datetime ?? (start === undefined ? row.created_at : new Date(start.at));
  return row.has_default_title ? { text: defaultTitle(facts.mediaType, at), isDefault: true } : undefined;
}

async function validateFile(
  { db, store, config }: Dependencies,
  { key, size }: { readonly key: string; readonly size: number | undefined },
  upload: UploadRow,
): Promise<ValidationResult> {
  if (size === undefined)
    return {
      ok: false,
      reason: "The file was removed from the file store before it was checked. Create the upload again.",
      causes: [fileCause("file_removed", {})],
    };
  const refusal = await countArrivedFile(db, config, upload, size);
  if (refusal !== null) return { ok: false, reason: refusal.sentence, causes: refusal.causes };
  const source: MediaSource = {
    size,
    path: store.localPath(key),
    async read(start, end) {
      return buffer((await store.get(key, { start, end })).body);
    },
  };
  const limits = {
    maxDurationSec: upload.max_duration_sec ?? 0,
    maxBytes: Number(upload.max_upload_bytes),
  };
  const expectation = expectationOf(upload);
  return withScratch(config.dataDir, async (scratch) => {
    const fetch = () => scratch.fetch(store, key);
    // The index of a fragmented file is spread all over it: thousands of small reads, where fetching the whole file is
    // faster.
    const isHere = source.path !== null || !(await isFragmented(source));
    const whole = isHere ? source : { ...source, path: await fetch() };
    if (expectation.kind !== "any") return validateMedia(whole, expectation, limits);
    const parts = upload.import_data?.parts ?? null;
    const fetchWhole = async () => ({ inputPath: await fetch(), outDir: scratch.folder });
    return parts === null
      ? validateAny(whole, limits, fetchWhole)
      : validateParts(whole, parts, limits, fetchWhole);
  });
}

/** How much of a file's beginning to read: a fragmented file has a small index there that announces the rest. */
const probeBytes = 256 * 1024;

/** Whether a file is most likely a fragmented mp4, which ISO/IEC 14496-12, 8.8.1, announces with an mvex box. */
async function isFragmented(source: MediaSource): Promise<boolean> {
  if (source.size === 0) return false;
  const start = await source.read(0, Math.min(probeBytes, source.size) - 1);
  return Buffer.from(start.buffer, start.byteOffset, start.length).includes("mvex");
}

/** The kind of file that the upload announces. */
function expectationOf(upload: UploadRow): MediaExpectation {
  if (upload.one_step !== null) return { kind: "one_step", extension: upload.one_step };
  // Imports, the uploads of web app and command line, are converted.
  if (upload.import_data?.format != null) return { kind: "any" };
  if (upload.media_type === "transcript") throw new Error(`upload ${upload.id} has no file to validate`);
  return { kind: upload.media_type };
}

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    validate_upload: UploadPayload;
  }
}

export const validateUploadKind = defineJob({
  ...ofUpload,
  name: "validate_upload",
  label: (i18n) => i18n.t("Check uploaded file"),
  concurrency: 2,
  hasReservedSlots: true,
  handler: (deps, { uploadId }) => validateUploadJob(deps, uploadId),
});
