import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";

/** Path of recordings' files, which are served by signed URLs. */
export const mediaPath = "/_/media/recordings";

/** The values that SQL needs to sign thumbnail URLs. */
export interface ThumbnailLinks {
  readonly inner: Buffer;
  readonly outer: Buffer;
  /** The user or workspace the URLs are for (`access/viewer.ts`). */
  readonly viewerId: string;
}

/** Thumbnail URLs for one viewer: stable, and valid as long as the viewer can see the recording. */
export function thumbnailLinks(signer: LinkSigner, viewerId: string): ThumbnailLinks {
  return { ...signer.pads("thumbnail"), viewerId };
}
