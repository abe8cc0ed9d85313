import { buffer } from "node:stream/consumers";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Judgement, MediaExpectation, MediaSource } from "../media/facts.ts";
import { judgeMedia } from "../media/judge/index.ts";
import { withScratch } from "../media/scratch.ts";
import { uploadFileKey } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";
import { attempt } from "./attempt.ts";
import { lockUploadById, type UploadRow } from "./queries.ts";
import { transition } from "./transition.ts";
import { removeFile } from "./upload-file.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "dataDir" | "stagedMediaTtlMs">;
}

/**
 * The job that checks the file of a processing upload. It changes nothing until the verdict is written, in one
 * transaction: killed before, it begins anew.
 */
export function judgeUploadJob(deps: Dependencies, uploadId: string): Promise<void> {
  return attempt(deps.db, uploadId, "processing", (upload) => judgeAndSettle(deps, upload));
}

async function judgeAndSettle(deps: Dependencies, upload: UploadRow): Promise<void> {
  const { db, jobs, store, config } = deps;
  const uploadId = upload.id;
  const judgement = await judge(deps, uploadFileKey(uploadId), upload);
  const failed = await db.kysely.transaction().execute(async (tx) => {
    const row = await lockUploadById(tx, uploadId);
    if (row?.status !== "processing") return null;
    if (judgement.ok) {
      await transition(tx, jobs, row, "file_validated", {
        facts: judgement.facts,
        mediaExpiresAt: new Date(Date.now() + config.stagedMediaTtlMs),
      });
      return null;
    }
    return transition(tx, jobs, row, "processing_failed", { failureReason: judgement.reason });
  });
  jobs.wake();
  if (failed !== null) await removeFile(store, failed);
}

async function judge({ store, config }: Dependencies, key: string, upload: UploadRow): Promise<Judgement> {
  const info = await store.head(key);
  if (info === null)
    return { ok: false, reason: "The file was removed from the store before it was checked." };
  const source: MediaSource = {
    size: info.size,
    path: store.localPath(key),
    async read(start, end) {
      return buffer((await store.get(key, { start, end })).body);
    },
  };
  const limits = {
    maxDurationSec: upload.max_duration_sec ?? 0,
    maxBytes: Number(upload.max_upload_bytes),
  };
  if (source.path !== null || !(await isFragmented(source)))
    return judgeMedia(source, expectationOf(upload), limits);
  // Its index is spread all over the file: thousands of small reads, where one that fetches it all is faster.
  return withScratch(config.dataDir, async (scratch) =>
    judgeMedia({ ...source, path: await scratch.fetch(store, key) }, expectationOf(upload), limits),
  );
}

/** How much of a file's beginning is looked at: a fragmented one has a small index there that announces the rest. */
const glanceBytes = 256 * 1024;

/** Whether a file is a fragmented mp4, most likely: ISO/IEC 14496-12, 8.8.1, announces that by an mvex box. */
async function isFragmented(source: MediaSource): Promise<boolean> {
  if (source.size === 0) return false;
  const glance = await source.read(0, Math.min(glanceBytes, source.size) - 1);
  return Buffer.from(glance.buffer, glance.byteOffset, glance.length).includes("mvex");
}

/** What the upload says its file is. */
export function expectationOf(upload: UploadRow): MediaExpectation {
  if (upload.one_step !== null) return { kind: "one_step", extension: upload.one_step };
  // Recordings made elsewhere come in the forms that the older operation takes.
  const format = upload.import_data?.format ?? null;
  if (format !== null) return { kind: "one_step", extension: format };
  if (upload.media_type === "transcript") throw new Error(`upload ${upload.id} has no file to judge`);
  return { kind: upload.media_type };
}
