import { createHash } from "node:crypto";
import { forEachConcurrent } from "../../concurrency.ts";
import { readBody } from "../body.ts";
import { checkKey, checkPrefix } from "../key-rules.ts";
import {
  ObjectExistsError,
  type ObjectInfo,
  ObjectMissingError,
  type ObjectStore,
  ObjectTooLargeError,
  OffsetError,
} from "../store.ts";
import { answered, headObject, type S3Context } from "./client.ts";
import { compact, minPartBytes, readPieces } from "./compact.ts";
import { multipart } from "./multipart.ts";
import {
  begunName,
  endOf,
  listPieceKeys,
  listPieces,
  type Piece,
  type Pieces,
  pieceName,
  removePieces,
} from "./pieces.ts";
import { bufferBody, putBody } from "./put.ts";

type Appends = Pick<ObjectStore, "append" | "appended" | "finishAppend" | "dropAppend" | "listAppends">;

/** Bytes buffered for one piece. */
const pieceBytes = 8 * 1024 * 1024;
/** S3 joins no more parts than this. */
const maxPieces = 10_000;
/** Up to this size the object is stored with a single put, which every server refuses when the key is taken. */
const wholeBytes = 32 * 1024 * 1024;

/** Resumable writing to S3, which has no appending: pieces are objects of their own until they are joined. */
export function s3Appends(context: S3Context): Appends {
  return {
    async append(key, offset, body, { maxBytes, signal } = {}) {
      checkKey(key);
      const pieces = await listPieces(context, key);
      if (endOf(pieces) !== offset)
        throw new OffsetError(`${key} continues at byte ${endOf(pieces)}, not at ${offset}`);
      if (pieces.stray.length > 0)
        await removePieces(context, key, { ...pieces, joined: [], isBegun: false });
      const chunks = readBody(body, {
        ...(maxBytes !== undefined && { maxBytes: Math.max(0, maxBytes - offset) }),
        ...(signal && { signal }),
      });
      // Only when bytes arrive: otherwise the pieces may belong to an object that a crash left half finished.
      const makeRoom = async (): Promise<number> => maxPieces - (await compact(context, key, pieces.joined));
      const end = await putPieces(context, key, offset, chunks, makeRoom);
      if (end === 0) await putBody(context, begunName(key), bufferBody(Buffer.alloc(0)), {});
      return end;
    },
    async appended(key) {
      checkKey(key);
      const pieces = await listPieces(context, key);
      if (pieces.joined.length === 0 && !pieces.isBegun) return null;
      return { offset: endOf(pieces), modifiedAt: pieces.modifiedAt };
    },
    async finishAppend(key) {
      checkKey(key);
      const pieces = await listPieces(context, key);
      const isEmpty = pieces.joined.length === 0 && !pieces.isBegun;
      const mark = markOfPieces(pieces);
      let info = await finished(context, key, isEmpty ? null : mark);
      if (info === null) {
        if (isEmpty) throw new ObjectMissingError(`nothing was appended for ${key}`);
        info = await joinOrFind(context, key, pieces, mark);
      }
      await removePieces(context, key, pieces);
      return info;
    },
    async dropAppend(key) {
      checkKey(key);
      await removePieces(context, key, await listPieces(context, key));
    },
    async *listAppends(prefix) {
      checkPrefix(prefix);
      yield* listPieceKeys(context, prefix);
    },
  };
}

/**
 * Stores the incoming bytes in pieces, sending one while the next is buffered. The bytes before an error are stored as
 * well.
 * @param makeRoom returns how many pieces may be stored; called before the first.
 */
async function putPieces(
  context: S3Context,
  key: string,
  offset: number,
  chunks: AsyncIterable<Buffer>,
  makeRoom: () => Promise<number>,
): Promise<number> {
  let left: number | undefined;
  let gathered: Buffer[] = [];
  let bytes = 0;
  let next = offset;
  let putting: Promise<unknown> = Promise.resolve();
  const startPutting = async (): Promise<void> => {
    await putting;
    left ??= await makeRoom();
    if (left-- <= 0)
      throw new ObjectTooLargeError(
        `${key} has arrived in ${maxPieces} pieces, the most that this kind of store can join`,
      );
    const [piece, at] = [Buffer.concat(gathered), next];
    next += piece.length;
    gathered = [];
    bytes = 0;
    // Never overwrites another piece: one that arrives late, after its sender was aborted, must not change what counts.
    putting = putBody(context, pieceName(key, at), bufferBody(piece), { ifAbsent: true });
    // It is awaited before the next piece or at the end; until then its rejection must not count as unhandled.
    putting.catch(() => {});
  };
  let broken: { error: unknown } | undefined;
  try {
    for await (const chunk of chunks) {
      let rest = chunk;
      while (rest.length > 0) {
        const part = rest.subarray(0, pieceBytes - bytes);
        gathered.push(part);
        bytes += part.length;
        rest = rest.subarray(part.length);
        if (bytes === pieceBytes) await startPutting();
      }
    }
  } catch (error) {
    broken = { error };
  }
  try {
    if (bytes > 0) await startPutting();
    await putting;
  } catch (error) {
    // An error of the store matters more than one of the body.
    if (!(error instanceof ObjectExistsError)) throw error;
    throw new OffsetError(`${key} was appended to by another process`, { cause: error });
  }
  if (broken !== undefined) throw broken.error;
  return next;
}

/** The marker of an object made of these pieces, by which a later call recognizes it. */
function markOfPieces({ joined }: Pieces): string {
  const hash = createHash("sha256");
  for (const { offset, size, etag } of joined) hash.update(`${offset} ${size} ${etag}\n`);
  return hash.digest("hex");
}

/**
 * The object at the key if an earlier call created it; null if there is none.
 * @param mark null when all pieces are gone: any object there was finished.
 * @throws ObjectExistsError when another object is there.
 */
async function finished(context: S3Context, key: string, mark: string | null): Promise<ObjectInfo | null> {
  const there = await headObject(context, key);
  if (there !== null && mark !== null && there.mark !== mark) throw new ObjectExistsError(`${key} is taken`);
  return there?.info ?? null;
}

/** Joins the pieces; if that fails because another call has finished in the meantime, returns that call's object. */
async function joinOrFind(
  context: S3Context,
  key: string,
  pieces: Pieces,
  mark: string,
): Promise<ObjectInfo> {
  try {
    return await join(context, key, pieces, mark);
  } catch (error) {
    // The other call has taken the key or the pieces, or it was this call and its response was lost.
    const there = answered(error, 412) || answered(error, 404) ? await finished(context, key, mark) : null;
    if (there === null) throw error;
    return there;
  }
}

async function join(context: S3Context, key: string, pieces: Pieces, mark: string): Promise<ObjectInfo> {
  const size = endOf(pieces);
  if (size <= wholeBytes)
    return putBody(context, key, bufferBody(await readPieces(context, pieces.joined)), {
      ifAbsent: true,
      mark,
    });
  const parts = planParts(pieces.joined);
  return multipart(context, key, { ifAbsent: true, mark }, async (upload) => {
    const numbered = parts.map((part, index) => ({ ...part, number: index + 1 }));
    await Promise.all([
      forEachConcurrent(
        numbered.filter(({ isCopy }) => isCopy),
        4,
        ({ number, pieces: [piece] }) => upload.copyPart(number, context.prefix + (piece as Piece).name),
      ),
      // Two at a time of less than 13 MiB each: that is all the memory this takes.
      forEachConcurrent(
        numbered.filter(({ isCopy }) => !isCopy),
        2,
        async ({ number, pieces: some }) =>
          upload.sendPart(number, bufferBody(await readPieces(context, some))),
      ),
    ]);
  });
}

/** A part of the object: one piece as it is, or several that are read into this process. */
export interface Part {
  readonly pieces: readonly Piece[];
  readonly isCopy: boolean;
}

/** Which pieces form which part: all but the last at least 5 MiB, none that is read of more than 13 MiB. */
export function planParts(pieces: readonly Piece[]): Part[] {
  const parts: Part[] = [];
  let small: Piece[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    if (bytes === 0 && piece.size >= minPartBytes) {
      parts.push({ pieces: [piece], isCopy: true });
      continue;
    }
    small.push(piece);
    bytes += piece.size;
    if (bytes < minPartBytes) continue;
    parts.push({ pieces: small, isCopy: false });
    small = [];
    bytes = 0;
  }
  if (small.length > 0) parts.push({ pieces: small, isCopy: false });
  return parts;
}
