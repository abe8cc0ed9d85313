import type { Executor } from "../db/database.ts";
import type { LinkSigner } from "../links/signer.ts";
import { recordingObjectKey } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";
import { mediaPath } from "./links.ts";

/** What the file of a recording is. */
export interface RecordingMediaRow {
  readonly recording_id: string;
  readonly workspace_id: string;
  readonly title: string;
  readonly format: "mp4" | "mp3";
}

export const contentTypes = { mp4: "video/mp4", mp3: "audio/mpeg" } as const;

/** The file of a recording; undefined when it has none, or the recording does not exist. */
export async function findRecordingMedia(
  db: Executor,
  recordingId: string,
): Promise<RecordingMediaRow | undefined> {
  const row = await db
    .selectFrom("recording_media")
    .innerJoin("recordings", "recordings.id", "recording_media.recording_id")
    .select(["recording_id", "workspace_id", "title", "format"])
    .where("recording_id", "=", recordingId)
    .executeTakeFirst();
  return row as RecordingMediaRow | undefined;
}

/** Longest name that every file system takes, with some room for an ending and a counter. */
const longestNameBytes = 180;

/** A file name from the title: what some file system refuses or reads as a folder becomes a space. */
export function downloadName({ title, format }: Pick<RecordingMediaRow, "title" | "format">): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not get through.
  const plain = title.replace(/[\u0000-\u001f\u007f-\u009f<>:"/\\|?*\u202a-\u202e\u2066-\u2069]+/g, " ");
  let name = plain.replace(/\s+/g, " ").replace(/^[. ]+|[. ]+$/g, "");
  while (Buffer.byteLength(name) > longestNameBytes) name = [...name].slice(0, -1).join("");
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
 * A link to the file of a recording, good until it expires: the bucket's own, or one to this server.
 * @param method what it is going to be followed with: a bucket's link is good for GET alone, ours leads on to it.
 */
export async function mediaLink(
  deps: { readonly store: ObjectStore; readonly signer: LinkSigner; readonly baseUrl: string },
  media: RecordingMediaRow,
  expiresAt: Date,
  method: string,
): Promise<string> {
  const { store, signer, baseUrl } = deps;
  const id = media.recording_id;
  const direct = method === "HEAD" ? null : await storeLink(store, media, expiresAt);
  return direct ?? `${baseUrl}${mediaPath}/${id}/media?${signer.query("media", id, expiresAt)}`;
}
