import {
  DeleteObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
} from "@aws-sdk/client-s3";
import { ask, bareEtag, inParallel, type S3Context } from "./s3-client.ts";

/**
 * How appends lie in the bucket: `.partial/<key>/.<offset>`, one object for each piece, never changed. The dots keep
 * them apart from every object, whose keys have no segment that begins with one. `.begun` says that an append of no
 * bytes was made.
 */
const folder = ".partial/";
const begun = ".begun";
const offsetDigits = 16;

export interface Piece {
  /** Key without the store's prefix. */
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  readonly etag: string;
}

export interface Pieces {
  /** Those that follow on each other from the first byte on. */
  readonly joined: readonly Piece[];
  /** Those that do not: what a removal that was cut has left. */
  readonly stray: readonly Piece[];
  readonly isBegun: boolean;
  readonly modifiedAt: Date;
}

/** The name of a piece, without the store's prefix. */
export function pieceName(key: string, offset: number): string {
  return `${folder}${key}/.${String(offset).padStart(offsetDigits, "0")}`;
}

/** The name of the mark that an append was begun. */
export function begunName(key: string): string {
  return `${folder}${key}/${begun}`;
}

/** Bytes that the joined pieces make. */
export function endOf({ joined }: Pieces): number {
  const last = joined.at(-1);
  return last === undefined ? 0 : last.offset + last.size;
}

/** One object of a bucket's list. */
export interface Listed {
  /** Without the store's prefix. */
  readonly name: string;
  readonly size: number;
  readonly etag: string;
  readonly modifiedAt: Date;
}

/** Lists what begins with a prefix, in the order of the names, hidden ones as well. */
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

/** What was appended for a key. */
export async function listPieces(context: S3Context, key: string): Promise<Pieces> {
  const joined: Piece[] = [];
  const stray: Piece[] = [];
  let isBegun = false;
  let modifiedAt = new Date(0);
  let end = 0;
  for await (const { name, size, etag, modifiedAt: at } of listNames(context, `${folder}${key}/.`)) {
    if (at > modifiedAt) modifiedAt = at;
    const last = name.slice(name.lastIndexOf("/") + 1);
    if (last === begun) {
      isBegun = true;
      continue;
    }
    const piece = { name, offset: Number(last.slice(1)), size, etag };
    if (piece.offset === end) {
      joined.push(piece);
      end += size;
    } else stray.push(piece);
  }
  return { joined, stray, isBegun, modifiedAt };
}

/** Keys for which there are pieces. */
export async function* listPieceKeys(
  context: S3Context,
  prefix: string,
): AsyncGenerator<{ key: string; modifiedAt: Date }, void, undefined> {
  let current: { key: string; modifiedAt: Date } | undefined;
  for await (const { name, modifiedAt } of listNames(context, folder + prefix)) {
    const key = name.slice(folder.length, name.lastIndexOf("/"));
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
 * Removes pieces, the first one before the others: whatever a crash leaves then joins no more, so it counts as nothing
 * and not as a shorter append.
 */
export async function removePieces(context: S3Context, key: string, pieces: Pieces): Promise<void> {
  const [first, ...others] = pieces.joined;
  if (pieces.isBegun) await removeName(context, begunName(key));
  if (first !== undefined) await removeName(context, first.name);
  await inParallel([...others, ...pieces.stray], 8, ({ name }) => removeName(context, name));
}

/** Removes an object, if it is there. @param name without the store's prefix. */
export async function removeName(context: S3Context, name: string): Promise<void> {
  await ask(context, "remove", name, () =>
    context.client.send(new DeleteObjectCommand({ Bucket: context.bucket, Key: context.prefix + name })),
  );
}
