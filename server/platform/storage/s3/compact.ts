import { GetObjectCommand } from "@aws-sdk/client-s3";
import { forEachConcurrent } from "../../concurrency.ts";
import { ask, type S3Context } from "./client.ts";
import { endOf, mergedName, type Piece, pieceRequests, removeName } from "./pieces.ts";
import { bufferBody, putBody } from "./put.ts";

/** S3 accepts no smaller part except the last, so a piece of this size is left as it is. */
export const minPartBytes = 5 * 1024 * 1024;
/**
 * How many small pieces may collect at the end. A piece of 1 KiB is then rewritten three times until it is in a full
 * one.
 */
const maxSmall = 32;
/** A piece is included only if those after it have grown to this share of it: rewriting it each time is quadratic. */
const growth = 16;

/**
 * Merges many small pieces at the end, so that a file that arrives in tiny steps is not thousands of objects. A crash
 * is harmless at any point: the merged piece counts as soon as it exists (see `chain`), and contains only bytes that
 * counted before.
 * @param joined the pieces that count, in order.
 * @returns how many there are now.
 */
export async function compact(context: S3Context, key: string, joined: readonly Piece[]): Promise<number> {
  const group = pickGroup(joined);
  const first = group[0];
  if (first === undefined) return joined.length;
  const end = endOf({ joined: group });
  const merged = mergedName(key, first.offset, end);
  await putBody(context, merged, bufferBody(await readPieces(context, group)), {});
  await forEachConcurrent(group, pieceRequests, ({ name }) => removeName(context, name));
  return joined.length - group.length + 1;
}

/** Which pieces at the end to merge: none, all that make a full one, or very many of about the same size. */
export function pickGroup(joined: readonly Piece[]): readonly Piece[] {
  const small = joined.slice(joined.findLastIndex(({ size }) => size >= minPartBytes) + 1);
  let bytes = 0;
  for (const [index, { size }] of small.entries()) {
    bytes += size;
    if (bytes >= minPartBytes) return small.slice(0, index + 1);
  }
  let group: readonly Piece[] = [];
  let [sum, largest] = [0, 0];
  for (let start = small.length - 1; start >= 0; start--) {
    const { size } = small[start] as Piece;
    sum += size;
    largest = Math.max(largest, size);
    if (small.length - start >= maxSmall && largest * growth <= sum) group = small.slice(start);
  }
  return group;
}

/**
 * Reads pieces into one buffer, several at a time.
 * @throws S3Error with status 404 when one is gone: another call has finished with them.
 */
export async function readPieces(context: S3Context, pieces: readonly Piece[]): Promise<Buffer> {
  let size = 0;
  const places = pieces.map((piece) => {
    const at = size;
    size += piece.size;
    return { piece, at };
  });
  const all = Buffer.allocUnsafe(size);
  await forEachConcurrent(places, pieceRequests, async ({ piece, at }) => {
    const { name } = piece;
    await ask(context, "read", name, async () => {
      const command = new GetObjectCommand({ Bucket: context.bucket, Key: context.prefix + name });
      const { Body } = await context.client.send(command);
      const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
      if (bytes.length !== piece.size)
        throw new Error(`it has ${bytes.length} bytes instead of the ${piece.size} listed`);
      all.set(bytes, at);
    });
  });
  return all;
}
