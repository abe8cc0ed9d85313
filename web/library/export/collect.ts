import { t } from "@lingui/core/macro";
import { ApiError } from "../../api/client/api-error.ts";
import { exportedRecording, mediaOf, transcriptText } from "../../api/library/export.ts";
import type { LibraryItem } from "../../api/library/pages.ts";
import type { Failure } from "../../common/failures.tsx";
import { fileName } from "../../common/format/file-name.ts";
import { dateOf } from "../../common/format/time.ts";
import { crc32, maxZipBytes, type ZipFile, zipOf } from "./zip.ts";

export interface Progress {
  /** Recordings that are complete. */
  readonly done: number;
  /** Read so far, also of recordings that could not be exported. */
  readonly bytes: number;
}

/** The files of one recording don't fit into an archive. */
class TooLargeError extends Error {}

/**
 * Collects recordings in ZIP archives, a folder for each: `recording.json`, the transcript as text and WebVTT, and the media
 * file if it is wanted. Each file is read as the user, so what the user can't see is not in it.
 * @param options.onZip called with each archive: when the next recording doesn't fit into it, and at the end.
 * @returns the recordings that could not be exported.
 */
export async function collect(
  items: readonly LibraryItem[],
  options: {
    readonly hasMedia: boolean;
    readonly onProgress: (progress: Progress) => void;
    readonly onZip: (zip: Blob) => void;
    readonly signal: AbortSignal;
  },
): Promise<readonly Failure[]> {
  const failed: Failure[] = [];
  const folders = new Set<string>();
  let [files, size, bytes]: [ZipFile[], number, number] = [[], 0, 0];
  for (const [index, { recording }] of items.entries()) {
    const { id, title, start_datetime } = recording;
    const start = new Date(start_datetime);
    let added = 0;
    try {
      const found = await filesOf(id, options, (more) => {
        bytes += more;
        added += more;
        if (added > maxZipBytes) throw new TooLargeError();
        options.onProgress({ done: index, bytes });
      });
      if (size + added > maxZipBytes) {
        options.onZip(zipOf(files));
        [files, size] = [[], 0];
      }
      const folder = freeName(folders, `${dateOf(start)} ${fileName(title)}`);
      files.push(...found.map((file) => ({ ...file, name: `${folder}/${file.name}`, modified: start })));
      size += added;
    } catch (error) {
      if (options.signal.aborted) throw error;
      failed.push({ id, title, reason: reasonOf(error) });
    }
    options.onProgress({ done: index + 1, bytes });
  }
  if (files.length > 0) options.onZip(zipOf(files));
  return failed;
}

function reasonOf(error: unknown): string {
  if (error instanceof TooLargeError) return t`The files exceed 4 GB.`;
  return error instanceof ApiError ? error.message : t`The file could not be read.`;
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
    throw new Error(`the media file could not be downloaded (status ${response.status})`);
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

/** A name that no other folder has, also where case doesn't matter. */
function freeName(taken: Set<string>, name: string): string {
  let free = name;
  for (let count = 2; taken.has(free.toLowerCase()); count += 1) free = `${name} (${count})`;
  taken.add(free.toLowerCase());
  return free;
}
