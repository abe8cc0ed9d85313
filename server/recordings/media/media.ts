import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Executor } from "../../platform/db/database.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
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
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes.
  const plain = title.replace(/[\u0000-\u001f\u007f-\u009f<>:"/\\|?*\u202a-\u202e\u2066-\u2069]+/g, " ");
  // Bounded: a title.
  let name = plain.replace(/\s+/g, " ").replace(/^[. ]+|[. ]+$/g, "");
  while (Buffer.byteLength(name) > maxNameBytes) name = [...name].slice(0, -1).join("");
  return `${name.trim() || "recording"}.${format}`;
}

/** The store's own link to the file of a recording, for GET alone; null where it has none. */
export function storeLink(
  store: ObjectStore,
  media: RecordingMediaRow,
  expiresAt: Date,
): Promise<string | null> {
  return store.downloadLink(recordingObjectKey(media.recording_id, `media.${media.format}`), {
    expiresAt,
    contentType: contentTypes[media.format],
    fileName: downloadName(media),
  });
}

/**
 * A URL of the recording's file that works until it expires: the bucket's own, or one of this server, which stops working
 * when the viewer can no longer see the recording.
 * @param method the method it will be used with: a bucket's URL works for GET alone; this server redirects other methods.
 */
export async function mediaLink(
  deps: { readonly store: ObjectStore; readonly signer: LinkSigner; readonly baseUrl: string },
  media: RecordingMediaRow,
  viewerId: string,
  expiresAt: Date,
  method: string,
): Promise<string> {
  const { store, signer, baseUrl } = deps;
  const id = media.recording_id;
  const direct = method === "HEAD" ? null : await storeLink(store, media, expiresAt);
  return (
    direct ?? `${baseUrl}${mediaPath}/${id}/media?${fileQuery(signer, "media", id, viewerId, expiresAt)}`
  );
}
