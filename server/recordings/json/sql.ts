import type { ThumbnailLinks } from "./links.ts";

/** Adds a value to a statement and returns its placeholder. */
export type Bind = (value: unknown) => string;

/** The URL of a thumbnail, signed over id and viewer as viewer-links.ts signs. */
export function signedThumbnail(
  baseUrl: string,
  path: string,
  id: string,
  { bind, thumbnails }: { readonly bind: Bind; readonly thumbnails: ThumbnailLinks },
): string {
  const viewer = `${bind(thumbnails.viewerId)}::text`;
  const signature = hmacHex(bind, thumbnails, `${id} || E'\\n' || ${viewer}`);
  return `${baseUrl} || '${path}/' || ${id} || '/thumbnail.jpg?viewer=' || ${viewer} || '&signature=' || ${signature}`;
}

/**
 * HMAC-SHA256 (RFC 2104) of a text, in hexadecimal.
 * @param pads of the key, as `LinkSigner.pads` gives them.
 */
export function hmacHex(
  bind: Bind,
  pads: { readonly inner: Buffer; readonly outer: Buffer },
  text: string,
): string {
  const inner = `sha256(${bind(pads.inner)}::bytea || convert_to(${text}, 'UTF8'))`;
  return `encode(sha256(${bind(pads.outer)}::bytea || ${inner}), 'hex')`;
}

/** A JSON object with these fields. */
export function object(fields: readonly [name: string, sql: string][]): string {
  return `json_build_object(${fields.map(([name, sql]) => `'${name}', ${sql}`).join(", ")})`;
}
