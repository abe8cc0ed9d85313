import { createHash } from "node:crypto";
import { posix } from "node:path";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import { ImportInput } from "../../../contract/uploads/imports.ts";
import { errorSuffix, zoomTracksFolder } from "../../../shared/files/file-groups.ts";
import { speakersOf } from "../../../shared/transcripts/subtitles.ts";
import type { WatchDir } from "../../platform/config/config.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { uploadFileKey } from "../../platform/storage/layout.ts";
import { BodyBrokenError, ObjectExistsError } from "../../platform/storage/store.ts";
import type { UploadRow } from "../../processing/uploads/queries.ts";
import { releaseStorage, requireRoom, reserveStorage } from "../../processing/uploads/quotas.ts";
import { fileReceived } from "../../processing/uploads/transfer/arrival.ts";
import { importRecording } from "../imports/service.ts";
import { type Content, NotARecordingError, openContent, requireRecording } from "./content.ts";
import type { ImportDependencies } from "./dependencies.ts";
import { WatchError, type WatchedFolder } from "./folder/index.ts";
import { type FileGroup, markOf, pathIn } from "./groups.ts";
import type { Listings } from "./listings.ts";
import { type Notice, noticeStem } from "./notice.ts";
import {
  findRecordedUpload,
  findSpokenLanguage,
  forgetFile,
  isKnownContent,
  quotaError,
  saveState,
  saveUpload,
  skippedError,
  type WatchedFile,
  waitsForQuota,
} from "./queries.ts";
import { listFailure, ownerPrincipal, writeErrorFile } from "./report.ts";
import { settleMsOf } from "./scan.ts";
import {
  type ResolvedSettings,
  readSettingsOf,
  resolveSettings,
  type SeenSettings,
  SettingsError,
} from "./settings.ts";
import { type ReadTranscript, readTranscript } from "./transcript.ts";

/** How long to wait after errors that may pass: a second, then ever longer. */
const maxRetryMs = 300_000;

/** Fails after so many attempts, each after a longer wait: about half an hour. */
const maxAttempts = 15;

/** How soon to look again for files of a volume that is not mounted. */
const volumeRetryMs = 60_000;

/** How soon to try again when a quota is used up, then ever longer. */
const minQuotaRetryMs = 60_000;
const maxQuotaRetryMs = 3_600_000;

/** A file that a worker has claimed, and where it is. */
export interface Claim {
  readonly file: WatchedFile & { readonly path: string };
  readonly dir: WatchDir;
  readonly watchedFolder: WatchedFolder;
  readonly listings: Listings;
  readonly notice: Notice;
  readonly seenSettings: SeenSettings;
}

/**
 * Sends a file that is ready to an upload of its owner. Killed at any point it is claimed again: the same content leads to
 * the same upload, whose file is stored once.
 */
export async function importFile(deps: ImportDependencies, claim: Claim, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  const { file } = claim;
  let settings: ResolvedSettings | null = null;
  try {
    const group = await findGroup(claim);
    if (group === null) {
      if (!(await claim.watchedFolder.isMounted())) return await waitForVolume(deps, claim);
      return await forgetFile(db.kysely, file);
    }
    if (!markOf(group).equals(file.mark)) return await saveState(db.kysely, file, "waiting");
    const found = await readSettingsOf(claim.watchedFolder, folderOf(file.path), claim.seenSettings);
    settings = await resolveSettings(db.kysely, claim.dir, claim.watchedFolder, found);
    if (settings.workspaceId !== file.workspace_id) return await forgetFile(db.kysely, file);
    await send(deps, claim, group, settings, signal);
  } catch (error) {
    await handle(deps, claim, settings, error, signal);
  }
}

/** The folder with which a file is listed: that of the meeting, for the tracks of Zoom's speakers. */
export function folderOf(path: string): string {
  const folder = posix.dirname(path);
  if (posix.basename(folder) === zoomTracksFolder) return folderOf(folder);
  return folder === "." ? "" : folder;
}

/** The group of a file, as it is now; null: the file is gone. */
export async function findGroup({ file, listings }: Claim): Promise<FileGroup | null> {
  const folder = folderOf(file.path);
  try {
    const name = folder === "" ? file.path : file.path.slice(folder.length + 1);
    return await listings.find(folder, name, file.mark);
  } catch (error) {
    if (error instanceof WatchError && error.isOutdated) return null;
    throw error;
  }
}

/** Looks again later, because files of a volume that is not mounted only seem to be gone. */
export async function waitForVolume(
  { db }: Pick<ImportDependencies, "db">,
  { file, dir }: Claim,
): Promise<void> {
  const error = sentenceOf("watch_volume", { folder: dir.location });
  await saveState(db.kysely, file, file.state === "pending" ? "pending" : "ready", {
    error,
    attempts: 1,
    afterMs: volumeRetryMs,
  });
}

async function send(
  deps: ImportDependencies,
  { file, watchedFolder }: Claim,
  group: FileGroup,
  settings: ResolvedSettings,
  signal: AbortSignal,
): Promise<void> {
  const { db, config } = deps;
  const folder = folderOf(file.path);
  await requireRecording(watchedFolder, file.path);
  const read =
    group.transcript === null
      ? null
      : await readTranscript(
          watchedFolder,
          pathIn(folder, group.transcript.name),
          await findSpokenLanguage(db.kysely, file.workspace_id),
        );
  const transcript = read?.segments ?? null;
  // Words that are given need no tracks to be recognized from.
  const used = transcript === null ? group : { ...group, tracks: [] };
  const bytes = [used.main, ...used.tracks.map((track) => track.file)].reduce(
    (sum, { size }) => sum + size,
    0,
  );
  // Before the content is read: it would be for nothing, for each file of the folder.
  await requireRoom(db.kysely, config, file.workspace_id, bytes, file.upload_id);
  const content = await openContent(watchedFolder, folder, used, { maxBytes: config.maxUploadBytes, signal });
  try {
    const contentHash = createHash("sha256").update(settings.ownerId).update(content.sha256).digest();
    const externalId = `watched file ${content.sha256.toString("hex")}`;
    const known = { contentHash, stored: [group.main.name], error: null };
    if (await isKnownContent(db.kysely, file.workspace_id, contentHash)) {
      const uploadId = await findRecordedUpload(db.kysely, settings.ownerId, externalId);
      return await saveState(db.kysely, file, "pending", { ...known, uploadId });
    }
    const input = ImportInput.parse({
      external_id: externalId,
      source: group.isZoom ? "zoom" : "other",
      tags: settings.tags,
      team_ids: settings.teamId === null ? [] : [settings.teamId],
      media: {
        name: file.path.slice(-1000),
        modified_datetime: group.main.modifiedAt.toISOString(),
        audio_tracks: settings.audioTracks,
        ...(content.parts.length > 1 ? { parts: content.parts } : {}),
      },
      ...(transcript === null
        ? {}
        : {
            transcript: { language: "und", segments: transcript },
            participants: speakersOf(transcript).slice(0, 500),
          }),
    });
    const owner = ownerPrincipal(file.workspace_id, { id: settings.ownerId, email: settings.ownerEmail });
    const { row, created } = await importRecording(deps, owner, input);
    if (row.status === "awaiting") {
      await saveUpload(db.kysely, file, row.id);
      await store(deps, row, content, signal);
    }
    // An upload that existed already may have another transcript, or other tracks.
    // A transcript that was read in part is kept.
    const stored = created ? namesIn(used, transcript !== null && read?.notes.length === 0) : known.stored;
    // Also when an attempt was killed behind the import.
    if (
      (created || row.id === file.upload_id) &&
      group.transcript !== null &&
      read !== null &&
      read.notes.length > 0
    )
      await noteTranscript(deps, watchedFolder, pathIn(folder, group.transcript.name), read);
    await saveState(db.kysely, file, "pending", { ...known, stored, uploadId: row.id });
  } finally {
    await content.close();
  }
}

/** Says beside a transcript what of it was not read. The recording is imported all the same. */
async function noteTranscript(
  deps: ImportDependencies,
  watchedFolder: WatchedFolder,
  path: string,
  { segments, notes }: ReadTranscript,
): Promise<void> {
  const name = posix.basename(path);
  deps.log.warn({ file: watchedFolder.nameOf(path), notes }, "a transcript was read in part");
  await writeErrorFile(deps, watchedFolder, path, [
    segments === null
      ? `The recording was imported into Parley without ${name}.`
      : `The recording was imported into Parley with ${segments.length} ${segments.length === 1 ? "line" : "lines"} of ${name}.`,
    ...notes,
    "To use a corrected transcript, choose “Replace transcript” on the recording's page.",
  ]);
}

/** The names of the files whose content an upload has. */
function namesIn({ main, tracks, transcript }: FileGroup, hasTranscript: boolean): string[] {
  const texts = hasTranscript && transcript !== null ? [transcript.name] : [];
  return [main.name, ...tracks.map(({ file }) => file.name), ...texts];
}

/** Stores the file of an upload once: an attempt that was killed may have stored it already. */
async function store(
  deps: ImportDependencies,
  upload: UploadRow,
  content: Content,
  signal: AbortSignal,
): Promise<void> {
  const key = uploadFileKey(upload.id);
  await reserveStorage(deps.db, deps.config, upload, content.bytes, content.bytes);
  const stored =
    (await deps.store.head(key)) ??
    (await deps.store
      .put(key, content.read(), { ifAbsent: true, contentLength: content.bytes, signal })
      .catch(async (error) => {
        if (error instanceof ObjectExistsError) return deps.store.head(key);
        await releaseStorage(deps.db, upload.id);
        throw error;
      }));
  if (stored !== null) await fileReceived(deps, upload.id, stored.etag);
}

/** Decides what becomes of a file after an error: it is looked at again, tried again, or has failed. */
async function handle(
  deps: ImportDependencies,
  claim: Claim,
  settings: ResolvedSettings | null,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const { db, config, log } = deps;
  const { file } = claim;
  const cause = error instanceof BodyBrokenError && error.cause instanceof WatchError ? error.cause : error;
  if (signal.aborted) return saveState(db.kysely, file, "ready");
  // The next pass reports it, and finds the file ready once it is corrected.
  if (cause instanceof SettingsError || (cause instanceof WatchError && cause.isOutdated))
    return saveState(db.kysely, file, "waiting");
  if (cause instanceof NotARecordingError) {
    log.info(
      { file: claim.watchedFolder.nameOf(file.path), content: cause.content },
      "a watched file is not a recording",
    );
    return saveState(db.kysely, file, "failed", { error: skippedError(cause.content) });
  }
  if (cause instanceof ProblemError && cause.code === "quota_exceeded")
    return waitForQuota(deps, claim, cause.message);
  // Waiting for a quota uses up no attempts.
  const attempts = waitsForQuota(file) ? 1 : file.attempts;
  const isLasting = cause instanceof WatchError || cause instanceof ProblemError || attempts >= maxAttempts;
  if (!isLasting || settings === null) {
    const message = cause instanceof Error ? cause.message : String(cause);
    log.warn(
      { err: cause, file: claim.watchedFolder.nameOf(file.path) },
      "a watched file could not be imported yet",
    );
    const afterMs = Math.min(maxRetryMs, Math.max(config.watchIntervalMs, 500 * 2 ** Math.min(attempts, 20)));
    return saveState(db.kysely, file, "ready", { error: message, attempts, afterMs });
  }
  if (!(cause instanceof WatchError))
    log.warn({ err: cause, file: claim.watchedFolder.nameOf(file.path) }, "a watched file can't be imported");
  const { reason, remedy } = inWords(cause);
  const owner = ownerPrincipal(file.workspace_id, { id: settings.ownerId, email: settings.ownerEmail });
  const identity = `${claim.dir.location}\n${file.path}\n${file.mark.toString("hex")}\n${reason}`;
  await listFailure(deps, owner, { name: file.path, identity, reason: `${reason} ${remedy}`.trim() });
  await failFile(deps, claim, reason, remedy);
}

/** Tries again later, when others have freed storage or finished uploads. One file in the watched folder says so for all. */
async function waitForQuota(deps: ImportDependencies, claim: Claim, reason: string): Promise<void> {
  const { file, watchedFolder } = claim;
  const attempts = waitsForQuota(file) ? file.attempts : 1;
  const afterMs = Math.min(maxQuotaRetryMs, minQuotaRetryMs * 2 ** Math.min(attempts - 1, 10));
  await saveState(deps.db.kysely, file, "ready", { error: quotaError(reason), attempts, afterMs });
  await claim.notice.write(async () => {
    deps.log.warn(
      { folder: watchedFolder.nameOf(""), reason },
      "files of a watched folder wait because of a quota",
    );
    await writeErrorFile(deps, watchedFolder, noticeStem, [
      "Files in this folder can't be imported into Parley now.",
      `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`,
      "Parley tries again at least once an hour.",
    ]);
  });
}

/** Writes the error beside the file, which stays where it is. */
export async function failFile(
  deps: ImportDependencies,
  { file, watchedFolder }: Claim,
  reason: string,
  remedy: string,
): Promise<void> {
  const hasErrorFile = await writeErrorFile(deps, watchedFolder, file.path, [
    `${posix.basename(file.path)} could not be imported into Parley.`,
    reason,
    remedy,
    `To try again, replace the recording, or delete this file (${posix.basename(file.path)}${errorSuffix}).`,
  ]);
  deps.log.warn({ file: watchedFolder.nameOf(file.path), reason }, "a watched file could not be imported");
  await saveState(deps.db.kysely, file, "failed", { error: reason, hasErrorFile });
}

function inWords(error: unknown): { reason: string; remedy: string } {
  if (error instanceof WatchError) return { reason: error.message, remedy: error.remedy };
  if (error instanceof ProblemError)
    return { reason: `${error.message}.`, remedy: sentences.watch_quota_remedy };
  return {
    // The error itself may name the server's own folders, buckets and hosts.
    reason: sentences.watch_store,
    remedy: sentences.watch_store_remedy,
  };
}

/** How soon to look again at what has become of an upload. */
export function recheckMsOf(deps: Pick<ImportDependencies, "config">): number {
  return Math.min(5000, settleMsOf(deps.config));
}
