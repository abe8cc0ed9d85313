import type { Readable } from "node:stream";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";

/** A file in a folder. */
export interface FoundFile {
  /** Relative to the folder. */
  readonly name: string;
  readonly size: number;
  /** Changes when the file does. */
  readonly stamp: string;
  readonly modifiedAt: Date;
}

/** What a folder contains. */
interface Listing {
  readonly files: readonly FoundFile[];
  readonly folders: readonly string[];
}

/** A file that is open for reading. */
export interface OpenFile {
  readonly size: number;
  /** Reads it from its first byte; may be called again. */
  read(): Readable;
  /** Whether the file at the path is still this one, with the size that it had. */
  isUnchanged(): Promise<boolean>;
  close(): Promise<void>;
}

/** A watched folder, on this machine or in a bucket. Paths are relative to it, with slashes; the folder is "". */
export interface WatchedFolder {
  /** Names a path to the user. */
  nameOf(path: string): string;
  /** Files and folders that are not hidden and no links. @throws WatchError */
  list(folder: string): Promise<Listing>;
  /** @throws WatchError when it is missing or can't be read. */
  open(path: string): Promise<OpenFile>;
  /** Whether the file at a path is the one that was listed. */
  isCurrent(path: string, stamp: string): Promise<boolean>;
  /**
   * Whether the folder itself can be relied on: where its volume is not mounted, there is nothing at its path, or another,
   * empty folder.
   */
  isMounted(): Promise<boolean>;
  /** Reads a small file. @throws WatchError when it is longer than `maxBytes`. */
  readBytes(path: string, maxBytes: number): Promise<Uint8Array>;
  writeText(path: string, text: string): Promise<void>;
  /**
   * Moves a file, creating the folder. Never replaces one: the name then gets a number.
   * @param stamp of the file as it was listed. @throws WatchError when it is another file now, which stays.
   */
  move(from: string, to: string, stamp: string): Promise<void>;
  /** Removes a file, if it exists. @param stamp, @throws as for `move`; without it, whatever file it is. */
  remove(path: string, stamp?: string): Promise<void>;
  /** @throws WatchError that says why the folder can't be watched. */
  check(): Promise<void>;
  close(): void;
}

/** Why something in a watched folder can't be imported, with what to do about it, in words for its user. */
export class WatchError extends Error {
  readonly remedy: string;
  /** Whether the file is gone or has changed, so that it is looked at again. */
  readonly isOutdated: boolean;

  constructor(message: string, remedy: string, isOutdated = false) {
    super(message);
    this.remedy = remedy;
    this.isOutdated = isOutdated;
  }
}

/** The file was changed, renamed or removed meanwhile. */
export function outdated(name: string): WatchError {
  return new WatchError(sentenceOf("watch_changed", { file: name }), "", true);
}

/** A folder with more files is refused, which bounds the memory for it. */
export const maxFolderFiles = 20_000;

export function tooManyFiles(name: string): WatchError {
  return new WatchError(
    sentenceOf("watch_many", { folder: name, limit: maxFolderFiles }),
    sentences.watch_many_remedy,
  );
}

/** Folders of file systems and storage devices, whose files are nobody's. */
const systemFolders = new Set([
  "$recycle.bin",
  "#recycle",
  "@eadir",
  "lost+found",
  "system volume information",
]);

/** Where sources go that are moved after the import. */
export const importedFolder = "parley-imported";

/** Whether a name in a folder is left out. */
export function isHidden(name: string): boolean {
  return (
    name.startsWith(".") ||
    name.startsWith("~") ||
    systemFolders.has(name.toLowerCase()) ||
    name === importedFolder
  );
}

/** A name with a number before its extension. */
export function numbered(path: string, number: number): string {
  if (number === 1) return path;
  const at = path.lastIndexOf(".");
  const end = at > path.lastIndexOf("/") ? at : path.length;
  return `${path.slice(0, end)} (${number})${path.slice(end)}`;
}

/** How many names are tried for a file that is moved. */
export const maxNumber = 1000;
