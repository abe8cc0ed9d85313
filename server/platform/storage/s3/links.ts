import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { LRUCache } from "lru-cache";
import { contentDisposition } from "../content-disposition.ts";
import type { ObjectStore } from "../store.ts";
import { ask, type S3Context } from "./client.ts";

/** S3's limit for a signature of version 4. */
const maxLinkSec = 7 * 24 * 3600;
/** Signing takes half a millisecond, and a list of uploads has a URL for each: the same URL is reused. */
const maxKept = 5000;
/** A URL is not reused this shortly before it expires. */
const keptUntilMs = 60_000;

/** The store's signed URLs. */
export function createLinks(context: S3Context): {
  [Name in "downloadLink" | "uploadLink"]: (
    ...args: Parameters<ObjectStore[Name]>
  ) => Promise<NonNullable<Awaited<ReturnType<ObjectStore[Name]>>>>;
} {
  const { client, bucket: Bucket, prefix } = context;
  const kept = new LRUCache<string, string>({ max: maxKept });

  /** @param what identifies everything signed besides the expiry. */
  const keep = async (
    key: string,
    what: readonly (string | undefined)[],
    expiresAt: Date,
    sign: (expiresIn: number) => Promise<string>,
  ): Promise<string> => {
    const expiresIn = secondsUntil(expiresAt);
    return ask(context, "sign a link to", key, async () => {
      // A URL signed by expired credentials would be refused; they are read only when they change.
      const { accessKeyId, sessionToken } = await client.config.credentials();
      const name = JSON.stringify([key, expiresAt.getTime(), accessKeyId, sessionToken, ...what]);
      const known = kept.get(name);
      if (known !== undefined) return known;
      const url = await sign(expiresIn);
      const ttl = expiresAt.getTime() - Date.now() - keptUntilMs;
      if (ttl > 0) kept.set(name, url, { ttl });
      return url;
    });
  };

  return {
    downloadLink: (key, { expiresAt, contentType, fileName }) =>
      keep(key, ["get", contentType, fileName], expiresAt, (expiresIn) => {
        const command = new GetObjectCommand({
          Bucket,
          Key: prefix + key,
          ResponseContentType: contentType,
          ResponseContentDisposition: contentDisposition(fileName),
        });
        return getSignedUrl(client, command, { expiresIn });
      }),
    /**
     * The condition is signed as a header, so a PUT without it is refused, and so is one with it when the key is taken.
     * The type is not signed: S3 would then refuse clients that send another or none.
     */
    async uploadLink(key, { expiresAt }) {
      const url = await keep(key, ["put"], expiresAt, (expiresIn) => {
        const command = new PutObjectCommand({ Bucket, Key: prefix + key, IfNoneMatch: "*" });
        return getSignedUrl(client, command, { expiresIn, unhoistableHeaders: new Set(["if-none-match"]) });
      });
      return { url, headers: { "If-None-Match": "*" } };
    },
  };
}

function secondsUntil(expiresAt: Date): number {
  const seconds = Math.floor((expiresAt.getTime() - Date.now()) / 1000);
  if (seconds < 1 || seconds > maxLinkSec)
    throw new RangeError(`a link lives from one second to seven days, not until ${expiresAt.toISOString()}`);
  return seconds;
}
