import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import { otherContent, sniffBytes } from "../../../shared/files/media-content.ts";
import { formatOf } from "../../../shared/files/media-formats.ts";
import { type OpenFile, outdated, WatchError, type WatchedFolder } from "./folder/index.ts";
import { type FileGroup, pathIn } from "./groups.ts";

/** The open files of a recording: the recording itself, then the tracks of its speakers. */
export interface Content {
  readonly parts: readonly { readonly bytes: number; readonly speaker: string | null }[];
  readonly bytes: number;
  /** SHA-256 of the recording itself. */
  readonly sha256: Buffer;
  /** All parts one behind the other. Ends with a WatchError if they are not what was hashed. */
  read(): Readable;
  close(): Promise<void>;
}

/**
 * Opens and reads the files of a recording.
 * @throws WatchError when one is missing, can't be read, is empty, or is written to meanwhile.
 */
export async function openContent(
  watchedFolder: WatchedFolder,
  folder: string,
  group: FileGroup,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Content> {
  const wanted = [{ file: group.main, speaker: null }, ...group.tracks];
  const opened: { name: string; file: OpenFile; speaker: string | null }[] = [];
  const close = async (): Promise<void> => {
    for (const { file } of opened.splice(0)) await file.close();
  };
  try {
    for (const { file, speaker } of wanted) {
      const path = pathIn(folder, file.name);
      opened.push({ name: watchedFolder.nameOf(path), file: await watchedFolder.open(path), speaker });
    }
    const parts = opened.map(({ file, speaker }) => ({ bytes: file.size, speaker }));
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    refuseSize(opened, bytes, maxBytes);
    const [first] = opened;
    if (first === undefined) throw new Error("a group has a file");
    const sha256 = await hash(first, signal);
    return { parts, bytes, sha256, read: () => Readable.from(readAll([...opened], sha256, signal)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A file that is no recording: it is listed, and stays where it is. */
export class NotARecordingError extends WatchError {
  /** What it is instead. */
  readonly content: string;

  constructor(name: string, content: string) {
    super(`${name} is not a recording but ${content}.`, "");
    this.content = content;
  }
}

/** Looks into a file whose name doesn't tell what it is. @throws NotARecordingError */
export async function requireRecording(watchedFolder: WatchedFolder, path: string): Promise<void> {
  if (formatOf(path) !== null) return;
  const file = await watchedFolder.open(path);
  try {
    let start = Buffer.alloc(0);
    for await (const chunk of file.size === 0 ? [] : file.read()) {
      start = Buffer.concat([start, chunk as Buffer]);
      if (start.length >= sniffBytes) break;
    }
    const content = start.length === 0 ? "empty" : otherContent(start.subarray(0, sniffBytes));
    if (content !== null) throw new NotARecordingError(watchedFolder.nameOf(path), content);
  } finally {
    await file.close();
  }
}

function refuseSize(
  files: readonly { name: string; file: OpenFile }[],
  bytes: number,
  maxBytes: number,
): void {
  for (const { name, file } of files)
    if (file.size === 0)
      throw new WatchError(sentenceOf("watch_empty", { file: name }), sentences.watch_empty_remedy);
  if (bytes > maxBytes)
    throw new WatchError(
      sentenceOf(files.length > 1 ? "watch_large_tracks" : "watch_large", {
        ...{ file: files[0]?.name ?? "", bytes, limit: maxBytes },
      }),
      sentences.watch_large_remedy,
    );
}

async function hash({ name, file }: { name: string; file: OpenFile }, signal: AbortSignal): Promise<Buffer> {
  const digest = createHash("sha256");
  for await (const chunk of file.read()) {
    signal.throwIfAborted();
    digest.update(chunk as Buffer);
  }
  if (!(await file.isUnchanged())) throw outdated(name);
  return digest.digest();
}

async function* readAll(
  files: readonly { name: string; file: OpenFile }[],
  sha256: Buffer,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (const [index, { name, file }] of files.entries()) {
    const digest = createHash("sha256");
    for await (const chunk of file.read()) {
      signal.throwIfAborted();
      if (index === 0) digest.update(chunk as Buffer);
      yield chunk as Buffer;
    }
    if (index === 0 && !digest.digest().equals(sha256)) throw outdated(name);
  }
  // Whatever is stored is processed at once, so this has to be known before the end of the stream.
  for (const { name, file } of files) if (!(await file.isUnchanged())) throw outdated(name);
}
