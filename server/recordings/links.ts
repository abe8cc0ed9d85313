import type { LinkSigner } from "../links/signer.ts";

/** Below the base address: files of recordings, by signed links. */
export const mediaPath = "/_/media/recordings";

const dayMs = 86_400_000;

/** How long a link to a thumbnail is good at least. */
const thumbnailDays = 7;

/** What the SQL needs to sign links to thumbnails. */
export interface ThumbnailLinks {
  readonly inner: Buffer;
  readonly outer: Buffer;
  /** Milliseconds since 1970. */
  readonly expires: string;
}

/** The same all day long, so that a page that is loaded again finds its pictures in the browser's cache. */
export function thumbnailLinks(signer: LinkSigner, now: Date): ThumbnailLinks {
  const expiresAt = new Date((Math.floor(now.getTime() / dayMs) + 1 + thumbnailDays) * dayMs);
  return { ...signer.pads("thumbnail"), expires: String(expiresAt.getTime()) };
}
