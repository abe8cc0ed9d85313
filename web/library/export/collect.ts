import { ApiError } from "../../api/client.ts";
import type { LibraryItem } from "../../api/library.ts";
import { exportedRecording, mediaOf, transcriptText } from "../../api/library-export.ts";
import { fileName } from "../../common/format/file-name.ts";
import { crc32, maxZipBytes, type ZipFile, zipOf } from "./zip.ts";

export interface Progress {
  /** Recordings that are complete. */
  readonly done: number;
  readonly bytes: number;
}

interface Export {
  readonly zip: Blob;
  /** Titles of recordings that could not be exported, with the reason. */
  readonly failed: readonly { readonly title: string; readonly reason: string }[];
}

/** The selected files don't fit into one archive. */
export class TooLargeError extends Error {}

/**
 * Collects recordings in a ZIP archive, a folder for each: `recording.json`, the transcript as text and WebVTT, and the media
 * file if it is wanted. Each file is read as the user, so what the user can't see is not in it.
 */
export async function collect(
  items: readonly LibraryItem[],
  options: {
    readonly hasMedia: boolean;
    readonly onProgress: (progress: Progress) => void;
    readonly signal: AbortSignal;
  },
): Promise<Export> {
  const files: ZipFile[] = [];
  const failed: Export["failed"][number][] = [];
  const folders = new Set<string>();
  let bytes = 0;
  const report = (more: number, done: number) => {
    bytes += more;
    if (bytes > maxZipBytes) throw new TooLargeError();
    options.onProgress({ done, bytes });
  };
  for (const [index, { recording }] of items.entries()) {
    const folder = freeName(folders, `${recording.start_datetime.slice(0, 10)} ${fileName(recording.title)}`);
    try {
      const found = await filesOf(recording.id, options, (more) => report(more, index));
      const modified = new Date(recording.start_datetime);
      files.push(...found.map((file) => ({ ...file, name: `${folder}/${file.name}`, modified })));
    } catch (error) {
      if (options.signal.aborted || error instanceof TooLargeError) throw error;
      failed.push({
        title: recording.title,
        reason: error instanceof ApiError ? error.message : "The file could not be read.",
      });
    }
    report(0, index + 1);
  }
  return { zip: zipOf(files), failed };
}

type File = Omit<ZipFile, "modified">;

async function filesOf(
  id: string,
  { hasMedia, signal }: { readonly hasMedia: boolean; readonly signal: AbortSignal },
  onBytes: (bytes: number) => void,
): Promise<File[]> {
  const files: File[] = [];
  const addText = (name: string, text: string) => {
    const encoded = new TextEncoder().encode(text);
    onBytes(encoded.length);
    files.push({ name, blob: new Blob([encoded]), crc: crc32(encoded) });
  };
  addText("recording.json", JSON.stringify(await exportedRecording(id, signal), null, 2));
  for (const form of ["txt", "vtt"] as const) {
    const text = await transcriptText(id, form, signal);
    if (text.trim() !== "" && text.trim() !== "WEBVTT") addText(`transcript.${form}`, text);
  }
  const media = hasMedia ? await mediaOf(id, signal) : null;
  if (media !== null)
    files.push({
      name: media.content_type === "video/mp4" ? "video.mp4" : "audio.mp3",
      ...(await readFile(media.url, signal, onBytes)),
    });
  return files;
}

/** Chunks are joined to blobs of this size, which browsers keep on disk. */
const blobBytes = 16 * 1024 * 1024;

async function readFile(
  url: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<{ blob: Blob; crc: number }> {
  // A request for a range is served by this server, never redirected to a bucket.
  const response = await fetch(url, { headers: { range: "bytes=0-" }, signal });
  if (!response.ok || response.body === null)
    throw new Error(`The media file couldn't be downloaded (status ${response.status}).`);
  const blobs: Blob[] = [];
  let [chunks, size, crc]: [Uint8Array<ArrayBuffer>[], number, number] = [[], 0, 0];
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value);
    size += part.value.length;
    crc = crc32(part.value, crc);
    onBytes(part.value.length);
    if (size < blobBytes) continue;
    blobs.push(new Blob(chunks));
    [chunks, size] = [[], 0];
  }
  return { blob: new Blob([...blobs, ...chunks]), crc };
}

/** A name that no other folder has. */
function freeName(taken: Set<string>, name: string): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name} (${count})`;
  taken.add(free);
  return free;
}
