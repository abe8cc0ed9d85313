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

/** The lock that a tab holds while it records or uploads a recording. */
export function lockName(uploadId: string): string {
  return `parley-recording-${uploadId}`;
}

/** What is stored about a recording; null: it never began, or its note is damaged. */
export async function readNote(folder: FileSystemDirectoryHandle): Promise<RecordingNote | null> {
  try {
    const file = await (await folder.getFileHandle(noteName)).getFile();
    return JSON.parse(await file.text()) as RecordingNote;
  } catch {
    // The browser was closed before the recording began.
    return null;
  }
}

/** All pieces by their names, in order. */
export async function namedPieces(folder: FileSystemDirectoryHandle): Promise<Piece[]> {
  const named: Piece[] = [];
  for await (const name of folder.keys()) {
    const piece = pieceOf(name);
    if (piece !== null) named.push(piece);
  }
  return named.sort((a, b) => a.start - b.start);
}

/** The stored recordings by the ids of their uploads. */
export async function allFolders(): Promise<Map<string, FileSystemDirectoryHandle>> {
  const found = new Map<string, FileSystemDirectoryHandle>();
  const storage = await navigator.storage?.getDirectory?.();
  const root = await storage?.getDirectoryHandle(rootName).catch(() => null);
  if (root == null) return found;
  for await (const [uploadId, folder] of root.entries())
    if (folder instanceof FileSystemDirectoryHandle) found.set(uploadId, folder);
  return found;
}

/** Ignores that a file or folder doesn't exist. */
export function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof DOMException && error.name === "NotFoundError")) throw error;
}
