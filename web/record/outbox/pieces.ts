/** A whole number of fragments of a recording, stored as one file until the server has acknowledged its bytes. */
export interface Piece {
  /** Position of its first byte in the recording's file. */
  readonly start: number;
  /** Bytes. */
  readonly size: number;
  /** Where the recording has arrived at its end, in milliseconds. */
  readonly endMs: number;
}

/** What is stored about an unfinished recording besides its pieces. */
export interface RecordingNote {
  readonly uploadId: string;
  readonly userId: string;
  readonly title: string;
  /** ISO timestamp. */
  readonly startedAt: string;
  /** Milliseconds at which the user highlighted a moment. */
  readonly moments: readonly number[];
}

/** In the origin's private file system (OPFS): a folder per recording. */
const rootName = "parley-recordings";
const noteName = "note.json";

/** The file name states what the file must contain, so that one cut off by a crash is recognized. */
export function pieceName({ start, size, endMs }: Piece): string {
  return [start, size, endMs].map((value) => String(value).padStart(12, "0")).join("-");
}

function pieceOf(name: string): Piece | null {
  const parts = name.split("-").map(Number);
  const [start = Number.NaN, size = Number.NaN, endMs = Number.NaN] = parts;
  return parts.length === 3 && parts.every(Number.isSafeInteger) ? { start, size, endMs } : null;
}

/** The folder of a recording, created if needed. */
export async function openFolder(uploadId: string): Promise<FileSystemDirectoryHandle> {
  const storage = await navigator.storage.getDirectory();
  const root = await storage.getDirectoryHandle(rootName, { create: true });
  return root.getDirectoryHandle(uploadId, { create: true });
}

export async function removeFolder(uploadId: string): Promise<void> {
  const storage = await navigator.storage.getDirectory();
  const root = await storage.getDirectoryHandle(rootName, { create: true });
  await root.removeEntry(uploadId, { recursive: true }).catch(ignoreMissing);
  // Fails while other recordings are in it. Without the folder, pages needn't load the recorder's code.
  await storage.removeEntry(rootName).catch(() => undefined);
}

export async function writeNote(folder: FileSystemDirectoryHandle, note: RecordingNote): Promise<void> {
  const file = await folder.getFileHandle(noteName, { create: true });
  // The stream writes to a copy, which replaces the file when it is closed.
  const stream = await file.createWritable();
  await stream.write(JSON.stringify(note));
  await stream.close();
}

/** Removes a piece whose bytes the server has acknowledged. */
export function removePiece(folder: FileSystemDirectoryHandle, piece: Piece): Promise<void> {
  return folder.removeEntry(pieceName(piece)).catch(ignoreMissing);
}

export async function readPiece(folder: FileSystemDirectoryHandle, piece: Piece): Promise<File> {
  return (await folder.getFileHandle(pieceName(piece))).getFile();
}

/** A recording left in this browser by an earlier visit. */
export interface StoredRecording {
  readonly note: RecordingNote;
  readonly folder: FileSystemDirectoryHandle;
  /**
   * In order and without gaps: the last ones, since a piece before a gap is one that could not be removed after it had
   * arrived. A piece that was cut off and all after it are left out.
   */
  readonly pieces: readonly Piece[];
}

/** The unfinished recordings of a user that no open tab is working on. */
export async function findStored(userId: string): Promise<StoredRecording[]> {
  if (navigator.storage?.getDirectory === undefined || navigator.locks === undefined) return [];
  const storage = await navigator.storage.getDirectory();
  const root = await storage.getDirectoryHandle(rootName).catch(() => null);
  if (root === null) return [];
  const busy = new Set((await navigator.locks.query()).held?.map(({ name }) => name));
  const found: StoredRecording[] = [];
  for await (const [uploadId, folder] of root.entries()) {
    if (busy.has(lockName(uploadId)) || !(folder instanceof FileSystemDirectoryHandle)) continue;
    const note = await readNote(folder);
    if (note === null) await removeUnused(uploadId, folder);
    if (note?.userId !== userId) continue;
    // Another tab may remove it meanwhile.
    const pieces = await findPieces(folder).catch(ignoreMissing);
    if (pieces !== undefined) found.push({ note, folder, pieces });
  }
  return found;
}

/** The lock that a tab holds while it records or uploads a recording. */
export function lockName(uploadId: string): string {
  return `parley-recording-${uploadId}`;
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

async function readNote(folder: FileSystemDirectoryHandle): Promise<RecordingNote | null> {
  try {
    const file = await (await folder.getFileHandle(noteName)).getFile();
    return JSON.parse(await file.text()) as RecordingNote;
  } catch {
    // The browser was closed before the recording began.
    return null;
  }
}

/** All pieces by their names, in order. */
async function namedPieces(folder: FileSystemDirectoryHandle): Promise<Piece[]> {
  const named: Piece[] = [];
  for await (const name of folder.keys()) {
    const piece = pieceOf(name);
    if (piece !== null) named.push(piece);
  }
  return named.sort((a, b) => a.start - b.start);
}

async function findPieces(folder: FileSystemDirectoryHandle): Promise<Piece[]> {
  let whole: Piece[] = [];
  for (const piece of await namedPieces(folder)) {
    const file = await readPiece(folder, piece).catch(ignoreMissing);
    if (file === undefined) continue;
    if (file.size !== piece.size) break;
    const last = whole.at(-1);
    if (last !== undefined && last.start + last.size !== piece.start) whole = [];
    whole.push(piece);
  }
  return whole;
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof DOMException && error.name === "NotFoundError")) throw error;
}
