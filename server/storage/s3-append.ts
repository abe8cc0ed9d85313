import { createHash } from "node:crypto";
import { readBody } from "./body.ts";
import { checkKey, checkPrefix } from "./key-rules.ts";
import { answered, inParallel, lookAt, type S3Context } from "./s3-client.ts";
import { compact, gather, minPartBytes } from "./s3-compact.ts";
import { multipart } from "./s3-multipart.ts";
import {
  begunName,
  endOf,
  listPieceKeys,
  listPieces,
  type Piece,
  type Pieces,
  pieceName,
  removePieces,
} from "./s3-pieces.ts";
import { bufferBody, putBody } from "./s3-put.ts";
import {
  ObjectExistsError,
  type ObjectInfo,
  ObjectMissingError,
  type ObjectStore,
  ObjectTooLargeError,
  OffsetError,
} from "./store.ts";

type Appends = Pick<ObjectStore, "append" | "appended" | "finishAppend" | "dropAppend" | "listAppends">;

/** Bytes gathered for one piece. */
const pieceBytes = 8 * 1024 * 1024;
/** S3 joins no more parts than this. */
const maxPieces = 10_000;
/** Up to this the object is put whole, which every server does only when the key is free. */
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
      // Only where bytes come: otherwise the pieces may be those of an object that a crash left half finished.
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
 * Puts what comes in pieces, one on its way while the next is gathered. What came before a fault is put as well.
 * @param makeRoom says how many pieces may be put; asked before the first.
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
        `${key} has come in ${maxPieces} pieces, and a store of this kind joins no more`,
      );
    const [piece, at] = [Buffer.concat(gathered), next];
    next += piece.length;
    gathered = [];
    bytes = 0;
    // Never over another piece: one that comes late, after its sender was given up, must not change what counts.
    putting = putBody(context, pieceName(key, at), bufferBody(piece), { ifAbsent: true });
    // It is awaited before the next piece or at the end; until then its failure must not count as unhandled.
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
    // That the store failed matters more than that the body did.
    if (!(error instanceof ObjectExistsError)) throw error;
    throw new OffsetError(`${key} was appended to by somebody else`, { cause: error });
  }
  if (broken !== undefined) throw broken.error;
  return next;
}

/** What an object made of these pieces carries, so that a later call knows it again. */
function markOfPieces({ joined }: Pieces): string {
  const hash = createHash("sha256");
  for (const { offset, size, etag } of joined) hash.update(`${offset} ${size} ${etag}\n`);
  return hash.digest("hex");
}

/**
 * The object at the key if an earlier call made it, or null when there is none.
 * @param mark null when all pieces are gone: whatever is there was finished.
 * @throws ObjectExistsError when another object is there.
 */
async function finished(context: S3Context, key: string, mark: string | null): Promise<ObjectInfo | null> {
  const there = await lookAt(context, key);
  if (there !== null && mark !== null && there.mark !== mark) throw new ObjectExistsError(`${key} is taken`);
  return there?.info ?? null;
}

/** Joins the pieces; where that fails because another call has finished meanwhile, finds what that one made. */
async function joinOrFind(
  context: S3Context,
  key: string,
  pieces: Pieces,
  mark: string,
): Promise<ObjectInfo> {
  try {
    return await join(context, key, pieces, mark);
  } catch (error) {
    // The other call has taken the place or the pieces, or it was our own whose answer was lost.
    const there = answered(error, 412) || answered(error, 404) ? await finished(context, key, mark) : null;
    if (there === null) throw error;
    return there;
  }
}

async function join(context: S3Context, key: string, pieces: Pieces, mark: string): Promise<ObjectInfo> {
  const size = endOf(pieces);
  if (size <= wholeBytes)
    return putBody(context, key, bufferBody(await gather(context, pieces.joined)), { ifAbsent: true, mark });
  const parts = planParts(pieces.joined);
  return multipart(context, key, { ifAbsent: true, mark }, async (upload) => {
    const numbered = parts.map((part, index) => ({ ...part, number: index + 1 }));
    await Promise.all([
      inParallel(
        numbered.filter(({ isCopy }) => isCopy),
        4,
        ({ number, pieces: [piece] }) => upload.copyPart(number, context.prefix + (piece as Piece).name),
      ),
      // Two at a time of less than 13 MiB each: that is all the memory this takes.
      inParallel(
        numbered.filter(({ isCopy }) => !isCopy),
        2,
        async ({ number, pieces: some }) => upload.sendPart(number, bufferBody(await gather(context, some))),
      ),
    ]);
  });
}

/** A part of the object: one piece as it is, or several that are gathered on their way through this process. */
export interface Part {
  readonly pieces: readonly Piece[];
  readonly isCopy: boolean;
}

/** Which pieces make which part: all but the last of at least 5 MiB, none gathered of more than 13 MiB. */
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
