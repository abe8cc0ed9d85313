import { setImmediate as otherWork } from "node:timers/promises";

/** Characters processed at a time, which takes a millisecond or two. */
const sliceLength = 32 * 1024;

/**
 * Cuts a text into slices of about 32,000 characters that can be converted independently: never within a run of
 * whitespace or a surrogate pair. Texts stored by earlier versions may be of any length.
 */
export function* slicesOf(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    let to = Math.min(from + sliceLength, text.length);
    while (to < text.length && /[\s\u0085\udc00-\udfff]/.test(text.charAt(to))) to += 1;
    yield text.slice(from, to);
    from = to;
  }
}

/** Joins the chunks of a text into bytes, yielding to other requests in between. */
export async function toBytes(pieces: Iterable<string>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < sliceLength) continue;
    chunks.push(Buffer.from(text));
    text = "";
    await otherWork();
  }
  chunks.push(Buffer.from(text));
  return Buffer.concat(chunks);
}

/** Segments or entries of a transcript as a JSON array, in chunks. `text` becomes the last property. */
export function* jsonOf(segments: Iterable<{ readonly text: string }>): Generator<string> {
  let separator = "[";
  for (const { text, ...others } of segments) {
    const head = JSON.stringify(others).slice(0, -1);
    yield `${separator}${head}${head === "{" ? "" : ","}"text":`;
    yield* jsonTextOf([text]);
    yield "}";
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

/** Joins texts into one JSON string, in chunks. */
export function* jsonTextOf(texts: Iterable<string>): Generator<string> {
  yield '"';
  for (const text of texts) for (const slice of slicesOf(text)) yield JSON.stringify(slice).slice(1, -1);
  yield '"';
}
