import { basename } from "node:path";
import { sql } from "kysely";
import { z } from "zod";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { defineJob } from "../../platform/jobs/define.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { reportCompanionFailures, storeCompanions } from "../../processing/integrity/companions.ts";
import { recordStoredFiles, type StoredFile, storeFile } from "../../processing/integrity/stored-files.ts";
import {
  cutClip,
  MediaFailedError,
  MediaKilledError,
  type RenderResult,
} from "../../processing/media/render/index.ts";
import { withScratch } from "../../processing/media/scratch.ts";
import { clipPrefix, isNeeded, removeClipFiles } from "../../recordings/public-link-records/clips.ts";
import { ownerOfRecording } from "../../recordings/recordings/job-of-recording.ts";
import { contentTypes } from "../../recordings/recordings/media/media.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "dataDir">;
  /** Cuts the clip; `cutClip` by default. */
  readonly cut?: typeof cutClip;
}

/** After the media process was killed this often for the same clip, the file is considered the cause. */
const maxKills = 5;

interface ClipRow {
  readonly id: string;
  readonly recording_id: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly format: "mp4" | "mp3";
}

/**
 * The job that renders the clip of a highlight for the links that show it. If it is killed before its row says that the
 * clip is stored, it runs again and stores the same files under the same names. If its row was deleted meanwhile, it
 * removes the files; if it is killed at that moment, the orphan sweep removes them.
 */
export async function renderClipJob(deps: Dependencies, clipId: string): Promise<void> {
  const { db, store, config } = deps;
  const clip = await findPreparing(db, clipId);
  if (clip === undefined) return;
  try {
    await withScratch(config.dataDir, async (scratch) => {
      const inputPath = await scratch.fetch(
        store,
        recordingObjectKey(clip.recording_id, `media.${clip.format}`),
      );
      const rendered = await (deps.cut ?? cutClip)({
        inputPath,
        format: clip.format,
        startMs: clip.start_ms,
        endMs: clip.end_ms,
        outDir: scratch.folder,
      });
      const files = await storeFiles(store, clip, rendered);
      const isSaved = await db.kysely.transaction().execute(async (tx) => {
        const { rows } = await sql`
          update clips set state = 'ready', format = ${clip.format}, files = ${files.map(({ key }) => basename(key))},
            error = null
          where id = ${clipId} and state = 'preparing' returning id`.execute(tx);
        if (rows.length === 0) return false;
        const { recording_id: recordingId } = clip;
        await recordStoredFiles(tx, { recordingId, clipId }, files);
        if (rendered.failures.length > 0)
          await deps.jobs.enqueue(tx, "render_companions", { recordingId }, recordingId);
        return true;
      });
      if (isSaved) reportCompanionFailures({ recordingId: clip.recording_id, clipId }, rendered);
      if (!isSaved && !(await exists(db, clipId))) await removeClipFiles(store, clip.recording_id, clipId);
    });
  } catch (error) {
    const reason = await reasonToGiveUp(db, clipId, error);
    if (reason === null) throw error;
    await sql`
      update clips set state = 'failed', error = ${reason}
      where id = ${clipId} and state = 'preparing'`.execute(db.kysely);
  }
}

/** Skips clips that no link shows any more, so that moving a highlight back and forth renders nothing in between. */
async function findPreparing(db: Database, clipId: string): Promise<ClipRow | undefined> {
  const { rows } = await sql<ClipRow>`
    select f.id, f.recording_id, f.start_ms, f.end_ms, m.format
    from clips f join recording_media m on m.recording_id = f.recording_id
    where f.id = ${clipId} and f.state = 'preparing' and ${sql.raw(isNeeded)}`.execute(db.kysely);
  return rows[0];
}

async function exists(db: Database, clipId: string): Promise<boolean> {
  const { rows } = await sql`select id from clips where id = ${clipId}`.execute(db.kysely);
  return rows.length > 0;
}

/** @returns the names of the stored files. */
async function storeFiles(store: ObjectStore, clip: ClipRow, rendered: RenderResult): Promise<StoredFile[]> {
  if (rendered.mediaPath === null) throw new Error(`clip ${clip.id} was not cut`);
  const prefix = clipPrefix(clip.recording_id, clip.id);
  const contentType = contentTypes[clip.format];
  return [
    await storeFile(store, prefix + basename(rendered.mediaPath), rendered.mediaPath, { contentType }),
    ...(await storeCompanions(store, prefix, rendered)),
  ];
}

/** Why the clip fails permanently, for users to read; null if a retry may help. */
async function reasonToGiveUp(db: Database, clipId: string, error: unknown): Promise<string | null> {
  if (error instanceof MediaFailedError) return error.message;
  if (error instanceof ObjectMissingError) return "The recording's file is not in the store.";
  if (!(error instanceof MediaKilledError)) return null;
  const { rows } = await sql<{ kills: number }>`
    update clips set kills = kills + 1 where id = ${clipId} returning kills`.execute(db.kysely);
  return (rows[0]?.kills ?? 0) < maxKills
    ? null
    : "Rendering the clip needs more memory than the server has.";
}

const payload = z.object({ clipId: z.string() });

declare module "../../platform/jobs/define.ts" {
  interface JobPayloads {
    render_clip: z.infer<typeof payload>;
  }
}

export const renderClipKind = defineJob({
  name: "render_clip",
  label: (i18n) => i18n.t("Render clip"),
  schema: payload,
  subject: "clip",
  owner: ({ clipId }) => ownerOfRecording(sql`select recording_id from clips where id = ${clipId}`),
  concurrency: 1,
  hasReservedSlots: true,
  discard: {
    lost: (i18n) => i18n.t("The clip fails. Links to it can't play it."),
    async end(tx, _context, clipId) {
      await sql`
        update clips set state = 'failed', error = 'An admin stopped the rendering of this clip.'
        where id = ${clipId} and state = 'preparing'`.execute(tx);
      return null;
    },
  },
  handler: (deps, { clipId }) => renderClipJob(deps, clipId),
});
