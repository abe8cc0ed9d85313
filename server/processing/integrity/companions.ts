import { basename } from "node:path";
import { sql } from "kysely";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { defineJob } from "../../platform/jobs/define.ts";
import { recordingObjectKey, recordingsPrefix } from "../../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { companionFailed } from "../../platform/telemetry/signals.ts";
import {
  lostOfRecording,
  ofRecording,
  type RecordingPayload,
} from "../../recordings/recordings/job-of-recording.ts";
import {
  type Companions,
  MediaFailedError,
  MediaKilledError,
  renderCompanions,
} from "../media/render/index.ts";
import { withScratch } from "../media/scratch.ts";
import { recordStoredFiles, type StoredFile, storeFile } from "./stored-files.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "dataDir">;
  /** `renderCompanions` by default. */
  readonly render?: typeof renderCompanions;
}

/** Stores what a recording or a clip is shown with. @param prefix of its keys. */
export async function storeCompanions(
  store: ObjectStore,
  prefix: string,
  { thumbnail, waveform, storyboard }: Companions,
): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  const put = async (path: string, contentType: string): Promise<void> => {
    files.push(await storeFile(store, prefix + basename(path), path, { contentType }));
  };
  if (thumbnail !== null) await put(thumbnail.path, "image/jpeg");
  if (waveform !== null) await put(waveform.path, "application/json");
  if (storyboard !== null) {
    for (const sheet of storyboard.paths) await put(sheet, "image/jpeg");
    await put(storyboard.indexPath, "application/json");
  }
  return files;
}

/** Reports what a recording or a clip has to do without, for the log and the metrics. */
export function reportCompanionFailures(
  owner: { readonly recordingId: string; readonly clipId?: string | undefined },
  { failures }: Pick<Companions, "failures">,
): void {
  for (const failure of failures) companionFailed.publish({ ...owner, ...failure });
}

/** A recording or a clip that something is missing of. */
interface Target {
  readonly recording_id: string;
  readonly clip_id: string | null;
  readonly format: "mp4" | "mp3";
  readonly duration_ms: number;
}

/** The files that everything of a format is shown with; a storyboard's sheets are named in its index. */
const companionNames = sql`unnest(case format when 'mp4' then array['waveform.json', 'thumbnail.jpg', 'storyboard.json']
  else array['waveform.json'] end)`;

/**
 * Recordings and clips without one of their companions, or with a damaged one, whose media file is not damaged itself.
 * @param recordingId null: all.
 */
async function findIncomplete({ db }: Dependencies, recordingId: string | null): Promise<Target[]> {
  const { rows } = await sql<Target>`
    with owners as (
      select m.recording_id, null::uuid as clip_id, m.format, r.duration_ms,
        ${recordingsPrefix} || m.recording_id || '/' as prefix
      from recording_media m join recordings r on r.id = m.recording_id
      union all
      select recording_id, id, format, end_ms - start_ms,
        ${recordingsPrefix} || recording_id || '/clips/' || id || '/'
      from clips where state = 'ready' and format is not null
    )
    select recording_id, clip_id, format, duration_ms from owners
    where (${recordingId}::uuid is null or recording_id = ${recordingId})
      and (
        exists (select 1 from ${companionNames} as name
          where not exists (select 1 from stored_files f where f.key = prefix || name and f.damage is null))
        or exists (select 1 from stored_files f
          where f.recording_id = owners.recording_id and f.clip_id is not distinct from owners.clip_id
            and f.damage is not null and f.key like prefix || 'storyboard-%'))
      and not exists (select 1 from stored_files f
        where f.key = prefix || 'media.' || format and f.damage is not null)
    order by recording_id, clip_id nulls first`.execute(db.kysely);
  return rows;
}

/**
 * The job that tries once more to create what failed when a recording or one of its clips was rendered.
 * @throws errors of the machine: the queue tries again.
 */
export async function renderCompanionsJob(deps: Dependencies, recordingId: string): Promise<void> {
  for (const target of await findIncomplete(deps, recordingId)) await complete(deps, target);
}

/** What `parley files verify --repair` did. */
export interface Repaired {
  /** Keys of the files that were created. */
  readonly created: string[];
  /** Keys of the media files whose companions can't be created, and why. */
  readonly failed: { readonly key: string; readonly reason: string }[];
}

/** Creates what recordings and clips are shown with, wherever it is missing or damaged. */
export async function repairCompanions(deps: Dependencies): Promise<Repaired> {
  const created: string[] = [];
  const failed: Repaired["failed"] = [];
  for (const target of await findIncomplete(deps, null)) {
    const done = await complete(deps, target);
    created.push(...done.created);
    failed.push(...done.failed);
  }
  return { created, failed };
}

async function complete(deps: Dependencies, target: Target): Promise<Repaired> {
  const { store, config } = deps;
  const { recording_id: recordingId, clip_id: clipId, format, duration_ms: durationMs } = target;
  const prefix = recordingObjectKey(recordingId, clipId === null ? "" : `clips/${clipId}/`);
  const key = `${prefix}media.${format}`;
  const owner = { recordingId, clipId: clipId ?? undefined };
  try {
    return await withScratch(config.dataDir, async (scratch) => {
      const inputPath = await scratch.fetch(store, key);
      const task = { inputPath, format, durationMs, outDir: scratch.folder };
      const companions = await (deps.render ?? renderCompanions)(task);
      reportCompanionFailures(owner, companions);
      const files = await storeCompanions(store, prefix, companions);
      await save(deps, target, companions, files);
      return {
        created: files.map((file) => file.key),
        failed: companions.failures.map(({ companion, detail }) => ({
          key,
          reason: `${companion}: ${detail}`,
        })),
      };
    });
  } catch (error) {
    const isOfFile =
      error instanceof MediaFailedError ||
      error instanceof MediaKilledError ||
      error instanceof ObjectMissingError;
    if (!isOfFile) throw error;
    const detail =
      error instanceof MediaFailedError ? `${error.message} ${error.detail}`.trim() : error.message;
    reportCompanionFailures(owner, { failures: [{ companion: "all", detail }] });
    return { created: [], failed: [{ key, reason: detail }] };
  }
}

/** If the recording or the clip is gone by now, the sweep of orphans removes the files. */
async function save(
  { db }: Dependencies,
  { recording_id: recordingId, clip_id: clipId }: Target,
  { thumbnail, storyboard }: Companions,
  files: readonly StoredFile[],
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const names = files.map((file) => basename(file.key));
    const { rows } =
      clipId === null
        ? await sql`
            update recordings set has_thumbnail = has_thumbnail or ${thumbnail !== null}
            where id = ${recordingId} returning id`.execute(tx)
        : await sql`
            update clips set files = array(select distinct unnest(files || ${names}::text[]))
            where id = ${clipId} and state = 'ready' returning id`.execute(tx);
    if (rows.length === 0) return;
    if (clipId === null)
      await sql`
        update recording_media set has_storyboard = has_storyboard or ${storyboard !== null}
        where recording_id = ${recordingId}`.execute(tx);
    await recordStoredFiles(tx, clipId === null ? { recordingId } : { recordingId, clipId }, files);
  });
}

declare module "../../platform/jobs/define.ts" {
  interface JobPayloads {
    render_companions: RecordingPayload;
  }
}

export const renderCompanionsKind = defineJob({
  ...ofRecording,
  name: "render_companions",
  label: (i18n) => i18n.t("Create thumbnail and waveform"),
  concurrency: 1,
  hasReservedSlots: true,
  discard: { lost: lostOfRecording },
  handler: (deps, { recordingId }) => renderCompanionsJob(deps, recordingId),
});
