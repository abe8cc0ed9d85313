import {
  DeleteObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
} from "@aws-sdk/client-s3";
import { forEachConcurrent } from "../../concurrency.ts";
import { ask, bareEtag, type S3Context } from "./client.ts";

/**
 * The objects of an append: `.partial/<key>/.<offset>`, one for each piece as it arrived, and `.<offset>-<end>`, one
 * merged from such pieces (compact.ts). None is ever changed. The dots keep them apart from every object, whose keys
 * have no segment that begins with one. `.begun` records an append of no bytes.
 */
export const appendsFolder = ".partial/";
const begun = ".begun";
const offsetDigits = 16;

/** How many pieces are read or removed at a time. */
export const pieceRequests = 16;

export interface Piece {
  /** Key without the store's prefix. */
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  readonly etag: string;
  /** Merged from others, which may still exist. */
  readonly isMerged: boolean;
}

export interface Pieces {
  /** The pieces that follow each other from the first byte on. */
  readonly joined: readonly Piece[];
  /** The others: leftovers of an interrupted removal, and pieces that have been merged. */
  readonly stray: readonly Piece[];
  readonly isBegun: boolean;
  readonly modifiedAt: Date;
}

/** The name of a piece, without the store's prefix. */
export function pieceName(key: string, offset: number): string {
  return `${appendsFolder}${key}/.${String(offset).padStart(offsetDigits, "0")}`;
}

/** The name of a merged piece, without the store's prefix. @param end the position of the next byte. */
export function mergedName(key: string, offset: number, end: number): string {
  return `${pieceName(key, offset)}-${String(end).padStart(offsetDigits, "0")}`;
}

/** The name of the marker of an empty append. */
export function begunName(key: string): string {
  return `${appendsFolder}${key}/${begun}`;
}

/** Total bytes of the joined pieces. */
export function endOf({ joined }: Pick<Pieces, "joined">): number {
  const last = joined.at(-1);
  return last === undefined ? 0 : last.offset + last.size;
}

/** One object in a listing of the bucket. */
export interface Listed {
  /** Without the store's prefix. */
  readonly name: string;
  readonly size: number;
  readonly etag: string;
  readonly modifiedAt: Date;
}

/** Lists the objects with a prefix, in the order of their names, including hidden ones. */
export async function* listNames(
  context: S3Context,
  prefix: string,
): AsyncGenerator<Listed, void, undefined> {
  let from: { ContinuationToken?: string } | undefined = {};
  while (from !== undefined) {
    const token = from;
    const page: ListObjectsV2CommandOutput = await ask(context, "list", `${prefix}*`, () =>
      context.client.send(
        new ListObjectsV2Command({ Bucket: context.bucket, Prefix: context.prefix + prefix, ...token }),
      ),
    );
    for (const { Key, Size, ETag, LastModified } of page.Contents ?? []) {
      if (Key === undefined) continue;
      yield {
        name: Key.slice(context.prefix.length),
        size: Size ?? 0,
        etag: bareEtag(ETag),
        modifiedAt: LastModified ?? new Date(0),
      };
    }
    const next = page.NextContinuationToken;
    from = page.IsTruncated && next !== undefined ? { ContinuationToken: next } : undefined;
  }
}

/** The pieces of a key. */
export async function listPieces(context: S3Context, key: string): Promise<Pieces> {
  const found: Piece[] = [];
  let isBegun = false;
  let modifiedAt = new Date(0);
  for await (const { name, size, etag, modifiedAt: at } of listNames(context, `${appendsFolder}${key}/.`)) {
    if (at > modifiedAt) modifiedAt = at;
    const last = name.slice(name.lastIndexOf("/") + 1);
    if (last === begun) {
      isBegun = true;
      continue;
    }
    const [offset, end] = last.slice(1).split("-");
    found.push({ name, offset: Number(offset), size, etag, isMerged: end !== undefined });
  }
  return { ...chain(found), isBegun, modifiedAt };
}

/**
 * Which pieces count. A merged piece contains only bytes that counted before, so it takes precedence over the plain one
 * at its offset, and a longer one over a shorter; pieces that begin within a piece that counts were merged into it.
 */
export function chain(found: readonly Piece[]): Pick<Pieces, "joined" | "stray"> {
  const joined: Piece[] = [];
  const stray: Piece[] = [];
  let end = 0;
  const inOrder = found.toSorted(
    (a, b) => a.offset - b.offset || Number(b.isMerged) - Number(a.isMerged) || b.size - a.size,
  );
  for (const piece of inOrder) {
    if (piece.offset === end) {
      joined.push(piece);
      end += piece.size;
    } else stray.push(piece);
  }
  return { joined, stray };
}

/** Keys with pieces. */
export async function* listPieceKeys(
  context: S3Context,
  prefix: string,
): AsyncGenerator<{ key: string; modifiedAt: Date }, void, undefined> {
  let current: { key: string; modifiedAt: Date } | undefined;
  for await (const { name, modifiedAt } of listNames(context, appendsFolder + prefix)) {
    const key = name.slice(appendsFolder.length, name.lastIndexOf("/"));
    if (current?.key === key) {
      if (modifiedAt > current.modifiedAt) current.modifiedAt = modifiedAt;
      continue;
    }
    if (current !== undefined) yield current;
    current = { key, modifiedAt };
  }
  if (current !== undefined) yield current;
}

/**
 * Removes pieces. Strays first, since one of them may begin where the first piece does, then the first one before the
 * others: the remains of a crash then no longer join, so they count as nothing rather than as a shorter append.
 */
export async function removePieces(context: S3Context, key: string, pieces: Pieces): Promise<void> {
  const [first, ...others] = pieces.joined;
  const remove = ({ name }: Piece): Promise<void> => removeName(context, name);
  if (pieces.isBegun) await removeName(context, begunName(key));
  await forEachConcurrent(pieces.stray, pieceRequests, remove);
  if (first !== undefined) await remove(first);
  await forEachConcurrent(others, pieceRequests, remove);
}

/** Removes an object, if it exists. @param name without the store's prefix. */
export async function removeName(context: S3Context, name: string): Promise<void> {
  await ask(context, "remove", name, () =>
    context.client.send(new DeleteObjectCommand({ Bucket: context.bucket, Key: context.prefix + name })),
  );
}
