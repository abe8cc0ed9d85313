import type { z } from "zod";
import type { RecordingMedia } from "../../../../contract/recordings/recording-data.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { recordingObjectKey, recordingsPrefix } from "../../../platform/storage/layout.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { mediaPath } from "../json/links.ts";
import { contentTypes, findRecordingMedia, mediaLink } from "./media.ts";
import { fileQuery, thumbnailQuery } from "./viewer-links.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl" | "downloadUrlTtlMs">;
}

/** Other files with signed URLs, and their content types. */
const assetTypes = [
  { pattern: /^(?:waveform|storyboard)\.json$/, contentType: "application/json" },
  { pattern: /^storyboard-\d{1,4}\.jpg$/, contentType: "image/jpeg" },
] as const;

/** The id that an asset's URL is signed over. */
export function assetId(recordingId: string, name: string): string {
  return `${recordingId}/${name}`;
}

/** Signed URLs of a recording's stored files. Callers check first that the viewer can see the recording. */
export async function recordingMediaLinks(
  { db, store, signer, config }: Dependencies,
  recordingId: string,
  viewerId: string,
): Promise<z.input<typeof RecordingMedia>> {
  const sizes = new Map<string, number>();
  const prefix = `${recordingsPrefix}${recordingId}/`;
  for await (const { key, size } of store.list(prefix)) sizes.set(key.slice(prefix.length), size);
  const expiresAt = new Date(Date.now() + config.downloadUrlTtlMs);
  const base = `${config.baseUrl}${mediaPath}/${recordingId}`;
  const assetUrl = (name: string) =>
    sizes.has(name)
      ? `${base}/files/${name}?${fileQuery(signer, "asset", assetId(recordingId, name), viewerId, expiresAt)}`
      : null;
  const row = await findRecordingMedia(db.kysely, recordingId);
  const name = row && `media.${row.format}`;
  const size = name && sizes.get(name);
  const indexUrl = assetUrl("storyboard.json");
  const sheets = [...sizes.keys()]
    .filter((sheet) => /^storyboard-\d+\.jpg$/.test(sheet))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return {
    expires_datetime: expiresAt.toISOString(),
    media:
      row === undefined || size === undefined
        ? null
        : {
            url: mediaLink({ signer, baseUrl: config.baseUrl }, recordingId, viewerId, expiresAt),
            content_type: contentTypes[row.format],
            size_bytes: size as number,
          },
    thumbnail_url: sizes.has("thumbnail.jpg")
      ? `${base}/thumbnail.jpg?${thumbnailQuery(signer, recordingId, viewerId)}`
      : null,
    waveform_url: assetUrl("waveform.json"),
    storyboard:
      indexUrl === null
        ? null
        : {
            index_url: indexUrl,
            sheets: sheets.map((sheet) => ({ name: sheet, url: assetUrl(sheet) ?? "" })),
          },
  };
}

/** The key and content type of an asset; null for an unknown name. */
export function findAsset(recordingId: string, name: string): { key: string; contentType: string } | null {
  const type = assetTypes.find(({ pattern }) => pattern.test(name));
  return type ? { key: recordingObjectKey(recordingId, name), contentType: type.contentType } : null;
}
