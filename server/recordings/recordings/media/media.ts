import { withoutExtension } from "../../../../shared/files/download-name.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Executor } from "../../../platform/db/database.ts";
import { recordingObjectKey } from "../../../platform/storage/layout.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { mediaPath } from "../json/links.ts";
import { fileQuery } from "./viewer-links.ts";

/** The media file of a recording. */
export interface RecordingMediaRow {
  readonly recording_id: string;
  readonly workspace_id: string;
  readonly title: string;
  readonly format: "mp4" | "mp3";
}

export const contentTypes = { mp4: "video/mp4", mp3: "audio/mpeg" } as const;

/** The media file of a recording; undefined when it has none or the recording does not exist. */
export async function findRecordingMedia(
  db: Executor,
  recordingId: string,
): Promise<RecordingMediaRow | undefined> {
  const row = await db
    .selectFrom("recording_media")
    .innerJoin("recordings", "recordings.id", "recording_media.recording_id")
    .select(["recordings.id as recording_id", "recordings.workspace_id", "title", "format"])
    .where("recording_id", "=", recordingId)
    .executeTakeFirst();
  return row as RecordingMediaRow | undefined;
}

/** The longest name that every file system accepts, minus room for an extension and a counter. */
const maxNameBytes = 180;

/** A file name from the title; characters that some file system refuses or reads as a folder become spaces. */
export function downloadName({ title, format }: Pick<RecordingMediaRow, "title" | "format">): string {
  const stem = withoutExtension(title, format);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes.
  const plain = stem.replace(/[\u0000-\u001f\u007f-\u009f<>:"/\\|?*\u202a-\u202e\u2066-\u2069]+/g, " ");
  // Bounded: a title.
  let name = plain.replace(/\s+/g, " ").replace(/^[. ]+|[. ]+$/g, "");
  while (Buffer.byteLength(name) > maxNameBytes) name = [...name].slice(0, -1).join("");
  return `${name.trim() || "recording"}.${format}`;
}

/** How long a bucket's own URL works. Nobody can revoke it, so it is for one request that begins at once. */
const bucketUrlMs = 60_000;

/** The bucket's own URL of the file of a recording, for one GET; null where the store has none. */
export function bucketUrl(store: ObjectStore, media: RecordingMediaRow): Promise<string | null> {
  return store.downloadLink(recordingObjectKey(media.recording_id, `media.${media.format}`), {
    expiresAt: new Date(Date.now() + bucketUrlMs),
    contentType: contentTypes[media.format],
    fileName: downloadName(media),
  });
}

/**
 * A URL of the recording's file on this server that works until it expires, or until the viewer can no longer see the
 * recording.
 */
export function mediaLink(
  { signer, baseUrl }: { readonly signer: LinkSigner; readonly baseUrl: string },
  recordingId: string,
  viewerId: string,
  expiresAt: Date,
): string {
  const query = fileQuery(signer, "media", recordingId, viewerId, expiresAt);
  return `${baseUrl}${mediaPath}/${recordingId}/media?${query}`;
}
