import { basename } from "node:path";
import { sql } from "kysely";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { cutClip, MediaFailedError, MediaKilledError, type RenderResult } from "../media/render/index.ts";
import { withScratch } from "../media/scratch.ts";
import { contentTypes } from "../recordings/media.ts";
import { recordingObjectKey } from "../storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../storage/store.ts";
import { clipPrefix, isNeeded, removeClipFiles } from "./clips.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "dataDir">;
  /** What cuts; `cutClip` by default. */
  readonly cut?: typeof cutClip;
}

/** When the media program has been killed so often at the same clip, it is taken to be the file's doing. */
const mostKills = 5;

interface ClipRow {
  readonly id: string;
  readonly recording_id: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly format: "mp4" | "mp3";
}

/**
 * The job that cuts the file of a highlight for the links that show it. Killed before its row says that the file is
 * there, it runs again and stores the same under the same names. One whose row went meanwhile removes what it stored;
 * killed in that very moment, the sweep of orphans does.
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
      const { rows } = await sql`
        update clip_files set state = 'ready', format = ${clip.format}, files = ${files}, error = null
        where id = ${clipId} and state = 'preparing' returning id`.execute(db.kysely);
      if (rows.length === 0 && !(await exists(db, clipId)))
        await removeClipFiles(store, clip.recording_id, clipId);
    });
  } catch (error) {
    const reason = await reasonToGiveUp(db, clipId, error);
    if (reason === null) throw error;
    await sql`
      update clip_files set state = 'failed', error = ${reason}
      where id = ${clipId} and state = 'preparing'`.execute(db.kysely);
  }
}

/** One that nobody sees any more is left to the sweep: whoever moves a highlight about has no file cut for where it was. */
async function findPreparing(db: Database, clipId: string): Promise<ClipRow | undefined> {
  const { rows } = await sql<ClipRow>`
    select f.id, f.recording_id, f.start_ms, f.end_ms, m.format
    from clip_files f join recording_media m on m.recording_id = f.recording_id
    where f.id = ${clipId} and f.state = 'preparing' and ${sql.raw(isNeeded)}`.execute(db.kysely);
  return rows[0];
}

async function exists(db: Database, clipId: string): Promise<boolean> {
  const { rows } = await sql`select id from clip_files where id = ${clipId}`.execute(db.kysely);
  return rows.length > 0;
}

/** @returns the names of what was stored. */
async function storeFiles(store: ObjectStore, clip: ClipRow, rendered: RenderResult): Promise<string[]> {
  if (rendered.mediaPath === null) throw new Error(`clip ${clip.id} was not cut`);
  const files: [path: string, contentType: string][] = [
    [rendered.mediaPath, contentTypes[clip.format]],
    [rendered.waveform.path, "application/json"],
  ];
  if (rendered.thumbnail) files.push([rendered.thumbnail.path, "image/jpeg"]);
  if (rendered.storyboard) {
    files.push([rendered.storyboard.indexPath, "application/json"]);
    for (const sheet of rendered.storyboard.paths) files.push([sheet, "image/jpeg"]);
  }
  for (const [path, contentType] of files)
    await store.putFile(clipPrefix(clip.recording_id, clip.id) + basename(path), path, { contentType });
  return files.map(([path]) => basename(path));
}

/** Why the clip fails for good, in words for people; null when trying again may help. */
async function reasonToGiveUp(db: Database, clipId: string, error: unknown): Promise<string | null> {
  if (error instanceof MediaFailedError) return error.message;
  if (error instanceof ObjectMissingError) return "The recording's file is not in the store.";
  if (!(error instanceof MediaKilledError)) return null;
  const { rows } = await sql<{ kills: number }>`
    update clip_files set kills = kills + 1 where id = ${clipId} returning kills`.execute(db.kysely);
  return (rows[0]?.kills ?? 0) < mostKills
    ? null
    : "Cutting the part needs more memory than the server has: it was ended by the system several times.";
}
