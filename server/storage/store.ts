import type { Readable } from "node:stream";

/** What a store knows of an object. */
export interface ObjectInfo {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Changes whenever the content does; without quotes. */
  readonly etag: string;
  /** When the content was written; a copy in a local store keeps the time of what it was copied from. */
  readonly modifiedAt: Date;
}

/** A part of an object: first and last byte, both included, as in RFC 9110. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface PutOptions {
  /** Refuse when the key is taken (`If-None-Match: *`), whoever wins a race. */
  readonly ifAbsent?: boolean;
  /** Refuse a body longer than this, while it comes. */
  readonly maxBytes?: number;
  /** Bytes that the sender announced; a body of another length is refused. */
  readonly contentLength?: number;
  readonly contentType?: string;
  /** Gives up: the body is destroyed and the call ends in a BodyBrokenError. */
  readonly signal?: AbortSignal;
}

/** What a link to an object says of it when it is followed. */
export interface LinkOptions {
  readonly expiresAt: Date;
  readonly contentType: string;
  /** Offered as the name of the file; without, the object is shown in place. */
  readonly fileName?: string;
}

/** How a client may send an object's bytes straight to the store. */
export interface UploadLink {
  readonly url: string;
  /** Headers the PUT must carry. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The key is taken already. */
export class ObjectExistsError extends Error {
  override readonly name = "ObjectExistsError";
}
/** Nothing is at the key. */
export class ObjectMissingError extends Error {
  override readonly name = "ObjectMissingError";
}
/** The body is longer than allowed. */
export class ObjectTooLargeError extends Error {
  override readonly name = "ObjectTooLargeError";
}
/** The body ended early, is not as long as announced, or was given up by its signal. */
export class BodyBrokenError extends Error {
  override readonly name = "BodyBrokenError";
}
/** An append does not continue where the object ends. */
export class OffsetError extends Error {
  override readonly name = "OffsetError";
}

/**
 * Where files are kept: a local folder or S3. Keys are paths such as `uploads/<id>/original`: segments of letters,
 * digits and `._=-` that do not begin with a dot, at most 200 bytes each, joined by `/`, at most 512 bytes in all;
 * everything else is a TypeError. No key may be the folder of another (`a` beside `a/b`). What a call has acknowledged
 * survives a crash of the process and of the machine; what it has not leaves nothing behind that `list` shows.
 * A body that is refused is left open and unread, so that an answer can still go out on its connection.
 * Faults of the store itself come as an Error with the system's or server's `code` (`ENOSPC`, `AccessDenied`).
 */
export interface ObjectStore {
  readonly kind: "local" | "s3";
  /**
   * Writes, reads a range of and removes a small object.
   * @throws Error whose message says in one line which step failed and why.
   */
  probe(): Promise<void>;
  /**
   * Whether the store can be reached at the moment: cheap enough to be asked every second, and less than `probe` tells.
   * @throws Error that says in one line why not.
   */
  check(): Promise<void>;
  /** @throws ObjectExistsError, ObjectTooLargeError, BodyBrokenError; then nothing of this body is kept. */
  put(key: string, body: Readable | Buffer, options?: PutOptions): Promise<ObjectInfo>;
  /**
   * Puts a file of this machine; replaces what is at the key. A local store may take the file itself (a link to it),
   * so it must not be changed afterwards.
   */
  putFile(
    key: string,
    path: string,
    options?: { contentType?: string; signal?: AbortSignal },
  ): Promise<ObjectInfo>;
  /**
   * Opens an object. The body has to be read to its end or destroyed, as `stream.pipeline` does and `pipe` does not: a
   * file or connection stays open until then. `info.size` is that of the whole object.
   * @throws ObjectMissingError. A range that goes past the end is cut; one that begins past it is a RangeError.
   */
  get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<{ info: ObjectInfo; body: Readable }>;
  head(key: string): Promise<ObjectInfo | null>;
  /** Removes the object; nothing happens where there is none. */
  delete(key: string): Promise<void>;
  /** Copies within the store, replacing what is at `to`. @throws ObjectMissingError */
  copy(from: string, to: string, contentType?: string): Promise<ObjectInfo>;
  /** Every object whose key begins with `prefix`, in the order of keys; partial appends are not among them. */
  list(prefix: string): AsyncIterable<ObjectInfo>;
  /** Path of the object on this machine, or null where the store is elsewhere. */
  localPath(key: string): string | null;
  /**
   * A link by which anybody may read the object until it expires, or null when the store has none of its own and the
   * server must hand the bytes out.
   * @throws RangeError when it would expire in the past or in more than seven days.
   */
  downloadLink(key: string, options: LinkOptions): Promise<string | null>;
  /**
   * A link by which a client may put the object once (the headers make a second PUT fail), or null when the server
   * must take the bytes. Nothing limits how much is put: the caller looks at the size afterwards.
   * @throws RangeError as above.
   */
  uploadLink(key: string, options: { expiresAt: Date }): Promise<UploadLink | null>;

  /**
   * Resumable writing. `append` adds bytes at `offset` to what has arrived for a key; what arrived before a cut is
   * kept and counts (a killed process loses at most what it has not yet put: S3 8 MiB). Two appends to one key at a
   * time are the caller's to prevent.
   * @param options.maxBytes most bytes of the whole object; never more is kept.
   * @returns the new offset.
   * @throws OffsetError when offset is not where it ends, ObjectTooLargeError, BodyBrokenError when the body was cut;
   * after the latter two `appended` says what was kept.
   */
  append(
    key: string,
    offset: number,
    body: Readable,
    options?: { maxBytes?: number; signal?: AbortSignal },
  ): Promise<number>;
  /** Bytes that have arrived by `append` and when the last of them did; null before the first. */
  appended(key: string): Promise<{ offset: number; modifiedAt: Date } | null>;
  /**
   * Makes the object of what was appended, and forgets the parts. May be called again, also after a crash at any
   * point: it then carries on, and once all is done it says what object is there.
   * @throws ObjectExistsError when the key is taken by another object, ObjectMissingError when there is neither
   * object nor anything appended.
   */
  finishAppend(key: string): Promise<ObjectInfo>;
  /** Forgets what was appended. */
  dropAppend(key: string): Promise<void>;
  /** Keys for which something was appended and not finished. */
  listAppends(prefix: string): AsyncIterable<{ key: string; modifiedAt: Date }>;
  /**
   * Removes what killed processes left behind: temporary files, test objects and open multipart uploads that nobody has
   * written to since `olderThan`; in a bucket only below what layout.ts names, since others may use it as well. What was appended stays (see `listAppends`).
   * @returns how many were removed.
   */
  sweepLeftovers(olderThan: Date): Promise<number>;
  /**
   * The key of an object by its name among everything in the bucket, as the bucket's notifications call it; null for
   * what is not this store's. On a local store the name is the key.
   */
  ownKey(name: string): string | null;
  /** Lets go of connections. */
  close(): Promise<void>;
}
