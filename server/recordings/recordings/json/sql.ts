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

/** Columns of a subselect, from which row_to_json builds an object. */
export function columns(fields: readonly [name: string, sql: string][]): string {
  return fields.map(([name, sql]) => `${sql} as "${name}"`).join(", ");
}

/** A JSON object with these fields, without blanks, which json_build_object writes, and faster than that. */
export function object(fields: readonly [name: string, sql: string][]): string {
  return `(select row_to_json(q) from (select ${columns(fields)}) q)`;
}

/**
 * JSON from PostgreSQL without the line breaks that json_agg writes between records. Within a string a line break is escaped,
 * so that they occur nowhere else. Between JSON values json_agg writes a blank, so use array_to_json there.
 */
export function withoutLineBreaks(json: string): string {
  return json.includes("\n") ? json.replaceAll(", \n ", ",") : json;
}

/** The JSON of a jsonb value without the blanks between its parts. Strings are matched whole, so that theirs stay. */
export function compact(value: string): string {
  return `regexp_replace((${value})::text, '("(?:[^"\\\\]|\\\\.)*")| ', '\\1', 'g')::json`;
}
