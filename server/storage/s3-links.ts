import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { contentDisposition } from "./content-disposition.ts";
import { ask, type S3Context } from "./s3-client.ts";
import type { LinkOptions, UploadLink } from "./store.ts";

/** S3's limit for a signature of version 4. */
const maxLinkSec = 7 * 24 * 3600;

/** The port's `downloadLink`. */
export function downloadLink(context: S3Context, key: string, options: LinkOptions): Promise<string> {
  const command = new GetObjectCommand({
    Bucket: context.bucket,
    Key: context.prefix + key,
    ResponseContentType: options.contentType,
    ResponseContentDisposition: contentDisposition(options.fileName),
  });
  const expiresIn = secondsUntil(options.expiresAt);
  return ask(context, "sign a link to", key, () => getSignedUrl(context.client, command, { expiresIn }));
}

/**
 * The port's `uploadLink`. The condition is signed as a header, so a PUT without it is refused, and one with it
 * when the key is taken. The type is not: S3 would then refuse clients that send another or none.
 */
export async function uploadLink(
  context: S3Context,
  key: string,
  options: { expiresAt: Date },
): Promise<UploadLink> {
  const command = new PutObjectCommand({
    Bucket: context.bucket,
    Key: context.prefix + key,
    IfNoneMatch: "*",
  });
  const expiresIn = secondsUntil(options.expiresAt);
  const url = await ask(context, "sign a link for", key, () =>
    getSignedUrl(context.client, command, { expiresIn, unhoistableHeaders: new Set(["if-none-match"]) }),
  );
  return { url, headers: { "If-None-Match": "*" } };
}

function secondsUntil(expiresAt: Date): number {
  const seconds = Math.floor((expiresAt.getTime() - Date.now()) / 1000);
  if (seconds < 1 || seconds > maxLinkSec)
    throw new RangeError(`a link lives from one second to seven days, not until ${expiresAt.toISOString()}`);
  return seconds;
}
