import { posix } from "node:path";
import { errorSuffix, filesOf } from "../../../shared/files/file-groups.ts";
import { decodeText } from "../../../shared/files/text-encoding.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { findUploadById } from "../../processing/uploads/media-queries.ts";
import type { UploadRow } from "../../processing/uploads/queries.ts";
import { readNotes, writeNotes } from "../../recordings/recordings/notes/notes.ts";
import { noticeOf } from "../imports/file-notice.ts";
import type { ImportDependencies } from "./dependencies.ts";
import { importedFolder, WatchError, type WatchedFolder } from "./folder/index.ts";
import { type FileGroup, markOf, pathIn } from "./groups.ts";
import { type Claim, failFile, findGroup, folderOf, recheckMsOf, waitForVolume } from "./import-file.ts";
import { findLiveRecording, saveKnownContent, saveState } from "./queries.ts";
import { ownerPrincipal, removeErrorFile, writeErrorFile } from "./report.ts";
import { readSettingsOf, resolveSettings } from "./settings.ts";

/** A recording and the user who owns it. */
interface Recording {
  readonly id: string;
  readonly owner: Principal;
}

/** How soon to try again to move or delete a source, then ever longer. */
const minRetryMs = 60_000;
const maxRetryMs = 3_600_000;

/** The source stays where it is after so many attempts: about seven hours. */
const maxAttempts = 12;

/** Fits into the notes of a recording. */
const maxChatBytes = 90_000;

/** What became of the source: nothing is left to do, it has changed, it must stay, or its volume is not mounted. */
type Outcome = "finished" | "changed" | "kept" | "unmounted";

/**
 * Looks at what has become of the upload of a file: once it is a recording, the source is left, moved or deleted, as the
 * settings say; if it failed, the error is written beside the source. Killed at any point it runs again.
 */
export async function finishFile(deps: ImportDependencies, claim: Claim): Promise<void> {
  const { db } = deps;
  const { file } = claim;
  const upload = file.upload_id === null ? undefined : await findUploadById(db.kysely, file.upload_id);
  if (upload?.status === "failure") {
    const reason = upload.failure_reason ?? "The upload failed.";
    return failFile(deps, claim, reason, "Convert the recording with another program, or record it again.");
  }
  if (upload !== undefined && upload.status !== "success")
    return saveState(db.kysely, file, "pending", { afterMs: recheckMsOf(deps) });
  // Also without an upload, which is deleted with its recording.
  if (file.content_hash !== null) await saveKnownContent(db.kysely, file.workspace_id, file.content_hash);
  try {
    const recording = upload === undefined ? null : await findRecording(db, upload);
    const outcome = await finishSource(deps, claim, recording);
    if (outcome === "unmounted") return await waitForVolume(deps, claim);
    if (outcome === "changed") return await saveState(db.kysely, file, "waiting");
    if (outcome === "kept")
      return await keepSource(
        deps,
        claim,
        "The recording with this file's content was deleted or is in the trash.",
        "Restore the recording from the trash, or upload the file in the web app.",
      );
  } catch (error) {
    if (error instanceof WatchError && error.isOutdated) return saveState(db.kysely, file, "waiting");
    return retrySource(deps, claim, error);
  }
  if (file.has_error_file) await removeErrorFile(deps, claim.watchedFolder, file.path);
  const notice = upload === undefined ? null : noticeOf(upload);
  if (notice !== null)
    await writeErrorFile(deps, claim.watchedFolder, file.path, [
      `${posix.basename(file.path)} was imported into Parley.`,
      notice,
    ]);
  return saveState(db.kysely, file, "done", { error: null, hasErrorFile: false });
}

async function findRecording(db: Database, upload: UploadRow): Promise<Recording | null> {
  const id = await findLiveRecording(db.kysely, upload.id);
  const owner = ownerPrincipal(upload.workspace_id, { id: upload.created_by, email: "" });
  return id === null ? null : { id, owner };
}

/** Tries again later, unless the folder is read-only for this process or there were too many attempts. */
async function retrySource(deps: ImportDependencies, claim: Claim, error: unknown): Promise<void> {
  const { db, log } = deps;
  const { file, watchedFolder } = claim;
  log.warn(
    { err: error, file: watchedFolder.nameOf(file.path) },
    "a watched file was imported, but its source could not be moved or deleted",
  );
  // Attempts before the first error waited for the recording.
  const attempts = file.error === null ? 1 : file.attempts;
  if (isRefused(error) || attempts >= maxAttempts)
    return keepSource(
      deps,
      claim,
      error instanceof WatchError ? error.message : "The folder or its storage refused the change.",
      "The recording is in Parley. Check the folder's permissions and the server's log.",
    );
  const afterMs = Math.min(maxRetryMs, minRetryMs * 2 ** (attempts - 1));
  const message = error instanceof Error ? error.message : String(error);
  return saveState(db.kysely, file, "pending", { error: message, attempts, afterMs });
}

/** Leaves the source where it is, and says why beside it. */
async function keepSource(
  deps: ImportDependencies,
  { file, watchedFolder }: Claim,
  reason: string,
  remedy: string,
): Promise<void> {
  const name = posix.basename(file.path);
  const hasErrorFile = await writeErrorFile(deps, watchedFolder, file.path, [
    `${name} was not moved or deleted after the import.`,
    reason,
    remedy,
    `To try again, delete this file (${name}${errorSuffix}).`,
  ]);
  await saveState(deps.db.kysely, file, "done", { hasErrorFile });
}

/** Whether the folder is read-only for this process, which another attempt won't change. */
function isRefused(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return ["EACCES", "EPERM", "EROFS", "AccessDenied"].includes(code);
}

async function finishSource(
  deps: ImportDependencies,
  claim: Claim,
  recording: Recording | null,
): Promise<Outcome> {
  const { file, dir, watchedFolder } = claim;
  const group = await findGroup(claim);
  // Removed by an attempt that was killed afterwards, or by a user.
  if (group === null) return (await claim.watchedFolder.isMounted()) ? "finished" : "unmounted";
  const folder = folderOf(file.path);
  const found = await readSettingsOf(watchedFolder, folder, claim.seenSettings);
  const settings = await resolveSettings(deps.db.kysely, dir, watchedFolder, found);
  if (recording === null) return settings.source === "leave" ? "finished" : "kept";
  const stored = new Set(file.stored ?? [group.main.name]);
  if (
    group.chat !== null &&
    (await saveChat(deps, watchedFolder, pathIn(folder, group.chat.name), recording))
  )
    stored.add(group.chat.name);
  if (settings.source === "leave") return "finished";
  if (!markOf(group).equals(file.mark)) return "changed";
  await removeSource(claim, group, settings.source === "delete" ? stored : new Set());
  return "finished";
}

/**
 * Deletes files and moves the others of the recording. The recording itself goes last, so that an attempt that is killed
 * finds the rest.
 * @param deleted the names of files whose content is in the recording. No other file is deleted; nor can it stay, because
 *   another form of the meeting would become a recording without the first.
 */
async function removeSource(
  { file, watchedFolder }: Claim,
  group: FileGroup,
  deleted: ReadonlySet<string>,
): Promise<void> {
  const folder = folderOf(file.path);
  for (const { name, stamp } of filesOf(group)) {
    const path = pathIn(folder, name);
    if (deleted.has(name)) await watchedFolder.remove(path, stamp);
    else await watchedFolder.move(path, posix.join(importedFolder, path), stamp);
  }
}

/**
 * The chat of a meeting becomes the owner's private notes on it, unless there are some.
 * @returns whether the notes contain the chat.
 */
async function saveChat(
  { db, log }: ImportDependencies,
  watchedFolder: WatchedFolder,
  path: string,
  { id, owner }: Recording,
): Promise<boolean> {
  try {
    const text = decodeText(await watchedFolder.readBytes(path, maxChatBytes))
      .text.replaceAll("\0", "")
      .trim();
    if (text === "") return true;
    const notes = await readNotes(db, owner, id);
    if (notes === null) await writeNotes(db, owner, id, text);
    return notes === null || notes.includes(text);
  } catch (error) {
    if (!(error instanceof WatchError) && !(error instanceof ProblemError)) throw error;
    log.warn({ err: error, file: watchedFolder.nameOf(path) }, "a chat could not be read");
    return false;
  }
}
