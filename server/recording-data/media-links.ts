import type { z } from "zod";
import type { RecordingMedia } from "../../contract/recording-data.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { LinkSigner } from "../links/signer.ts";
import { mediaPath } from "../recordings/links.ts";
import { contentTypes, findRecordingMedia, mediaLink } from "../recordings/media.ts";
import { recordingObjectKey, recordingsPrefix } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl" | "downloadUrlTtlMs">;
}

/** What beside media and thumbnail is handed out, and as what. */
export const assetTypes = [
  { pattern: /^(?:waveform|storyboard)\.json$/, contentType: "application/json" },
  { pattern: /^storyboard-\d{1,4}\.jpg$/, contentType: "image/jpeg" },
] as const;

/** What is signed of a link to one of them. */
export function assetId(recordingId: string, name: string): string {
  return `${recordingId}/${name}`;
}

/** Links to what there is of a recording in the store; callers ask first who sees it. */
export async function recordingMediaLinks(
  { db, store, signer, config }: Dependencies,
  recordingId: string,
): Promise<z.input<typeof RecordingMedia>> {
  const sizes = new Map<string, number>();
  const prefix = `${recordingsPrefix}${recordingId}/`;
  for await (const { key, size } of store.list(prefix)) sizes.set(key.slice(prefix.length), size);
  const expiresAt = new Date(Date.now() + config.downloadUrlTtlMs);
  const base = `${config.baseUrl}${mediaPath}/${recordingId}`;
  const assetUrl = (name: string) =>
    sizes.has(name)
      ? `${base}/files/${name}?${signer.query("asset", assetId(recordingId, name), expiresAt)}`
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
            url: await mediaLink({ store, signer, baseUrl: config.baseUrl }, row, expiresAt, "GET"),
            content_type: contentTypes[row.format],
            size_bytes: size as number,
          },
    thumbnail_url: sizes.has("thumbnail.jpg")
      ? `${base}/thumbnail.jpg?${signer.query("thumbnail", recordingId, expiresAt)}`
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

/** Where an asset lies, and as what it is sent; null for a name that is none. */
export function findAsset(recordingId: string, name: string): { key: string; contentType: string } | null {
  const type = assetTypes.find(({ pattern }) => pattern.test(name));
  return type ? { key: recordingObjectKey(recordingId, name), contentType: type.contentType } : null;
}
