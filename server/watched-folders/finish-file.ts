import { posix } from "node:path";
import type { Principal } from "../platform/auth/principal.ts";
import type { Database } from "../platform/db/database.ts";
import { ProblemError } from "../platform/http/errors/problem.ts";
import { readNotes, writeNotes } from "../recordings/notes/notes.ts";
import { findUploadById } from "../uploads/media-queries.ts";
import type { ImportDependencies } from "./dependencies.ts";
import { type FileGroup, filesOf } from "./group-files.ts";
import { type Claim, failFile, findGroup, folderOf, recheckMsOf } from "./import-file.ts";
import { importedFolder, type Place, WatchError } from "./place/index.ts";
import { isKnownContent, saveState, type WatchedFile } from "./queries.ts";
import { ownerPrincipal, removeErrorFile } from "./report.ts";
import { markOf, pathIn } from "./scan.ts";
import { type ResolvedSettings, readSettingsOf, resolveSettings } from "./settings.ts";

/** A recording and the user who owns it. */
interface Recording {
  readonly id: string;
  readonly owner: Principal;
}

/** How soon to try again to move or delete a source. */
const retryMs = 60_000;

/** Fits into the notes of a recording. */
const maxChatBytes = 90_000;

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
  // Its upload was deleted: whether anyone still needs the source is not known.
  if (upload === undefined && !(await isCopy(db, file)))
    return saveState(db.kysely, file, "done", { error: null });
  const owner = upload && ownerPrincipal(upload.workspace_id, { id: upload.created_by, email: "" });
  const recording = upload?.recording_id && owner ? { id: upload.recording_id, owner } : null;
  try {
    if ((await finishSource(deps, claim, recording)) === "changed")
      return await saveState(db.kysely, file, "waiting");
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    deps.log.warn(
      { err: error, file: claim.place.nameOf(file.path) },
      "a watched file was imported, but its source could not be moved or deleted",
    );
    if (!isRefused(error)) return saveState(db.kysely, file, "pending", { error: message, afterMs: retryMs });
    return saveState(db.kysely, file, "done", { error: message });
  }
  if (file.has_error_file) await removeErrorFile(deps, claim.place, file.path);
  return saveState(db.kysely, file, "done", { error: null, hasErrorFile: false });
}

/** Whether the file has the content of an earlier one, and so no upload of its own. */
async function isCopy(db: Database, file: WatchedFile): Promise<boolean> {
  return file.content_hash !== null && isKnownContent(db.kysely, file, file.content_hash);
}

/** Whether the folder is read-only for this process, which another attempt won't change. */
function isRefused(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return ["EACCES", "EPERM", "EROFS", "AccessDenied"].includes(code);
}

/** @returns "changed" when the files are others now, which must not be removed. */
async function finishSource(
  deps: ImportDependencies,
  claim: Claim,
  recording: Recording | null,
): Promise<"changed" | null> {
  const { file, dir, place } = claim;
  const group = await findGroup(claim);
  // Removed by an attempt that was killed afterwards, or by a user.
  if (group === null) return null;
  const folder = folderOf(file.path);
  const found = await readSettingsOf(place, folder);
  const settings = await resolveSettings(deps.db.kysely, dir, place, found);
  if (recording !== null && group.chat !== null)
    await saveChat(deps, place, pathIn(folder, group.chat.name), recording);
  if (settings.source === "leave") return null;
  if (!markOf(group).equals(file.mark)) return "changed";
  await removeSource(claim, group, folder, settings);
  return null;
}

/** The recording itself goes last, so that an attempt that is killed finds the rest. */
async function removeSource(
  { place }: Claim,
  group: FileGroup,
  folder: string,
  { source }: ResolvedSettings,
): Promise<void> {
  for (const { name } of filesOf(group)) {
    const path = pathIn(folder, name);
    if (source === "move") await place.move(path, posix.join(importedFolder, path));
    else await place.remove(path);
  }
}

/** The chat of a meeting becomes the owner's private notes on it, unless there are some. */
async function saveChat(
  { db, log }: ImportDependencies,
  place: Place,
  path: string,
  { id, owner }: Recording,
): Promise<void> {
  try {
    const text = (await place.readText(path, maxChatBytes)).replaceAll("\0", "").trim();
    if (text !== "" && (await readNotes(db, owner, id)) === null) await writeNotes(db, owner, id, text);
  } catch (error) {
    if (!(error instanceof WatchError) && !(error instanceof ProblemError)) throw error;
    log.warn({ err: error, file: place.nameOf(path) }, "a chat could not be read");
  }
}
