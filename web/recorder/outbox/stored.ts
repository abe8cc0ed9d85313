import { ApiError } from "../../api/client/api-error.ts";
import { findImport } from "../../api/uploads.ts";
import { headerLength } from "./fragments.ts";
import {
  allFolders,
  ignoreMissing,
  lockName,
  namedPieces,
  type Piece,
  type RecordingNote,
  readNote,
  readPiece,
  removeFolder,
  writeNote,
} from "./pieces.ts";

/** Recordings of other users are mentioned after this long: the server has waited as long for the rest of them. */
const abandonedMs = 30 * 86_400_000;

/** A recording left in this browser by an earlier visit. */
export interface StoredRecording {
  readonly note: RecordingNote;
  readonly folder: FileSystemDirectoryHandle;
  /**
   * In order and without gaps: the last ones, since the server has those before a gap. A piece that was cut off and all after
   * it are left out.
   */
  readonly pieces: readonly Piece[];
  /** The piece with the beginning of the file. */
  readonly first: Piece | null;
}

/** A recording of another user, of which nothing is shown. */
export interface ForeignRecording {
  readonly uploadId: string;
  /** When it was last written, in Unix milliseconds. */
  readonly at: number;
  readonly bytes: number;
}

/** The unfinished recordings of a user that no open tab is working on, and the old ones of other users. */
export async function findStored(
  userId: string,
): Promise<{ own: readonly StoredRecording[]; foreign: readonly ForeignRecording[] }> {
  const own: StoredRecording[] = [];
  const foreign: ForeignRecording[] = [];
  if (navigator.locks === undefined) return { own, foreign };
  const busy = await busyLocks();
  for (const [uploadId, folder] of await allFolders()) {
    if (busy.has(lockName(uploadId))) continue;
    // Another tab may remove it meanwhile.
    const pieces = await namedPieces(folder).catch(ignoreMissing);
    if (pieces === undefined) continue;
    const read = await readNote(folder);
    const note = read === null && pieces.length > 0 ? await restoreNote(uploadId, folder, userId) : read;
    if (note === undefined) continue;
    if (note?.userId === userId) {
      const stored = await describe(note, folder);
      if (stored !== null) own.push(stored);
    } else if (pieces.length === 0) await removeUnused(uploadId, folder);
    else {
      const one = await describeForeign(uploadId, folder, pieces);
      if (one.at < Date.now() - abandonedMs) foreign.push(one);
    }
  }
  return { own, foreign };
}

/** The recordings of a user of which a part may be only in this browser, also those that a tab is working on. */
export async function findUnsent(userId: string): Promise<RecordingNote[]> {
  const found: RecordingNote[] = [];
  for (const folder of (await allFolders()).values()) {
    const note = await readNote(folder);
    const pieces = await namedPieces(folder).catch(() => []);
    if (note?.userId === userId && pieces.length > 0) found.push(note);
  }
  return found;
}

/** One recording as it is stored now; null: it is no longer there. */
export async function readStored(uploadId: string): Promise<StoredRecording | null> {
  const folder = (await allFolders()).get(uploadId);
  const note = folder === undefined ? null : await readNote(folder);
  return folder === undefined || note === null ? null : describe(note, folder);
}

/** Whether the stored part plays: all of it is stored, or the beginning of the file and all that the server lacks. */
export function isPlayable({ pieces, first }: StoredRecording): boolean {
  return pieces.length > 0 && first !== null;
}

/** The stored part as an mp4. It lacks what the server has, except for the beginning of the file. */
export async function toFile({ folder, pieces, first }: StoredRecording): Promise<Blob> {
  const files: Blob[] = await Promise.all(pieces.map((piece) => readPiece(folder, piece)));
  if (first !== null && pieces[0]?.start !== 0) {
    const file = await readPiece(folder, first);
    files.unshift(file.slice(0, headerLength(new Uint8Array(await file.arrayBuffer()))));
  }
  return new Blob(files, { type: "video/mp4" });
}

async function busyLocks(): Promise<Set<string | undefined>> {
  return new Set((await navigator.locks.query()).held?.map(({ name }) => name));
}

async function describe(
  note: RecordingNote,
  folder: FileSystemDirectoryHandle,
): Promise<StoredRecording | null> {
  const named = await namedPieces(folder).catch(ignoreMissing);
  if (named === undefined) return null;
  let whole: Piece[] = [];
  let first: Piece | null = null;
  for (const piece of named) {
    const file = await readPiece(folder, piece).catch(ignoreMissing);
    if (file === undefined) continue;
    if (file.size !== piece.size) break;
    if (piece.start === 0) first = piece;
    const last = whole.at(-1);
    if (last !== undefined && last.start + last.size !== piece.start) whole = [];
    whole.push(piece);
  }
  return { note, folder, pieces: whole, first };
}

async function describeForeign(
  uploadId: string,
  folder: FileSystemDirectoryHandle,
  pieces: readonly Piece[],
): Promise<ForeignRecording> {
  const last = pieces.at(-1);
  const file = last === undefined ? undefined : await readPiece(folder, last).catch(ignoreMissing);
  const bytes = pieces.reduce((sum, { size }) => sum + size, 0);
  return { uploadId, at: file?.lastModified ?? Date.now(), bytes };
}

/**
 * Writes a damaged note again if the recording is the user's: the server knows.
 * @returns null: it isn't; undefined: that can't be known now.
 */
async function restoreNote(
  uploadId: string,
  folder: FileSystemDirectoryHandle,
  userId: string,
): Promise<RecordingNote | null | undefined> {
  try {
    const { title, created_datetime } = await findImport(uploadId);
    const note = { uploadId, userId, title, startedAt: created_datetime, moments: [] };
    await writeNote(folder, note);
    return note;
  } catch (error) {
    if (error instanceof ApiError) return error.status === 404 ? null : undefined;
    return ignoreMissing(error);
  }
}

/** Removes the folder of a recording that never began, because the browser was killed before. */
async function removeUnused(uploadId: string, folder: FileSystemDirectoryHandle): Promise<void> {
  await navigator.locks.request(lockName(uploadId), { ifAvailable: true }, async (lock) => {
    if (lock === null) return;
    // A folder that can't be read or removed now is removed on a later visit.
    const isUnused = await namedPieces(folder).then(
      (pieces) => pieces.length === 0,
      () => false,
    );
    if (isUnused) await removeFolder(uploadId).catch(() => undefined);
  });
}
