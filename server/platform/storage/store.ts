import type { Readable } from "node:stream";

/** The properties of an object. */
export interface ObjectInfo {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Changes whenever the content does; without quotes. */
  readonly etag: string;
  /** When the content was written; a copy in a local store keeps the time of the original. */
  readonly modifiedAt: Date;
}

/** A part of an object: first and last byte, both inclusive, as in RFC 9110. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface PutOptions {
  /** Refuse when the key is taken (`If-None-Match: *`), safe against races. */
  readonly ifAbsent?: boolean;
  /** Refuse a body longer than this while it arrives. */
  readonly maxBytes?: number;
  /** Bytes that the sender announced; a body of another length is refused. */
  readonly contentLength?: number;
  readonly contentType?: string;
  /** Aborts the call: the body is destroyed and the call rejects with a BodyBrokenError. */
  readonly signal?: AbortSignal;
}

/** The headers of the response to a signed URL. */
interface LinkOptions {
  readonly expiresAt: Date;
  readonly contentType: string;
  /** The file name for the download; without it, the object is displayed inline. */
  readonly fileName?: string;
}

/** How a client may send an object's bytes straight to the store. */
interface UploadLink {
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
/** The store can't do something that Parley needs of it; the message says what in one line. */
export class StoreLacksError extends Error {
  override readonly name = "StoreLacksError";
}
/** The server of the store, or the connection to it, failed. */
export class StoreError extends Error {
  /** Whether a retry may succeed. */
  readonly isPassing: boolean;

  constructor(message: string, isPassing: boolean, cause: unknown) {
    super(message, { cause });
    this.isPassing = isPassing;
  }
}
/** The body is longer than allowed. */
export class ObjectTooLargeError extends Error {
  override readonly name = "ObjectTooLargeError";
}
/** The body ended early, is not as long as announced, or was aborted by its signal. */
export class BodyBrokenError extends Error {
  override readonly name = "BodyBrokenError";
}
/** An append does not continue where the object ends. */
export class OffsetError extends Error {
  override readonly name = "OffsetError";
}

/** A folder of this machine, or a bucket. */
export type StoreKind = "local" | "s3";

/**
 * Where files are stored: a local folder or S3. Keys are paths such as `uploads/<id>/original`: segments of letters,
 * digits and `._=-` that do not begin with a dot, at most 200 bytes each, joined by `/`, at most 512 bytes in total;
 * everything else is a TypeError. No key may be the folder of another (`a` beside `a/b`). The effects of a call that
 * has returned survive a crash of the process and of the machine; a call that has not leaves nothing that `list` shows.
 * A refused body is left open and unread, so that a response can still be sent on its connection. Errors of the store
 * itself have the system's or server's `code` (`ENOSPC`, `AccessDenied`).
 */
export interface ObjectStore {
  readonly kind: StoreKind;
  /**
   * Writes, reads a range of and removes a small object.
   * @throws Error whose message says in one line which step failed and why.
   */
  probe(): Promise<void>;
  /**
   * Whether the store can be reached right now: cheap enough for every second, and less thorough than `probe`.
   * @throws Error that says in one line why not.
   */
  check(): Promise<void>;
  /** @throws ObjectExistsError, ObjectTooLargeError, BodyBrokenError; then nothing of this body is stored. */
  put(key: string, body: Readable | Buffer, options?: PutOptions): Promise<ObjectInfo>;
  /**
   * Stores a file of this machine, replacing the object at the key. A local store may take the file itself (a link to
   * it), so it must not be changed afterwards.
   */
  putFile(
    key: string,
    path: string,
    options?: { contentType?: string; signal?: AbortSignal },
  ): Promise<ObjectInfo>;
  /**
   * Opens an object. The body has to be read to its end or destroyed, as `stream.pipeline` does and `pipe` does not: a
   * file or connection stays open until then. `info.size` is the size of the whole object.
   * @throws ObjectMissingError. A range that extends past the end is cut; one that begins past it is a RangeError.
   */
  get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<{ info: ObjectInfo; body: Readable }>;
  head(key: string): Promise<ObjectInfo | null>;
  /** Removes the object, if it exists. */
  delete(key: string): Promise<void>;
  /** Copies within the store, replacing the object at `to`. @throws ObjectMissingError */
  copy(from: string, to: string, contentType?: string): Promise<ObjectInfo>;
  /** Every object whose key begins with `prefix`, in the order of keys; unfinished appends are not included. */
  list(prefix: string): AsyncIterable<ObjectInfo>;
  /** Path of the object on this machine; null when the store is elsewhere. */
  localPath(key: string): string | null;
  /**
   * A signed URL by which anybody may read the object until it expires; null when the store has none and the server
   * must send the bytes.
   * @throws RangeError when it would expire in the past or in more than seven days.
   */
  downloadLink(key: string, options: LinkOptions): Promise<string | null>;
  /**
   * A signed URL by which a client may store the object once (the headers make a second PUT fail); null when the server
   * must receive the bytes. Nothing limits the size: the caller checks it afterwards.
   * @throws RangeError as above.
   */
  uploadLink(key: string, options: { expiresAt: Date }): Promise<UploadLink | null>;

  /**
   * Resumable writing. `append` adds bytes at `offset` to those that have arrived for a key; bytes that arrived before
   * a broken connection are kept (a killed process loses at most those not yet stored: on S3 8 MiB). The caller
   * prevents concurrent appends to one key.
   * @param options.maxBytes limit of the whole object; never more is stored.
   * @returns the new offset.
   * @throws OffsetError when offset is not the end, ObjectTooLargeError, BodyBrokenError when the connection broke;
   * after the latter two `appended` returns what was kept.
   */
  append(
    key: string,
    offset: number,
    body: Readable,
    options?: { maxBytes?: number; signal?: AbortSignal },
  ): Promise<number>;
  /** The bytes that have arrived by `append` and when the last of them did; null before the first. */
  appended(key: string): Promise<{ offset: number; modifiedAt: Date } | null>;
  /**
   * Turns the appended bytes into the object and removes the parts. May be called again, also after a crash at any
   * point: it then continues, and once everything is done it returns the object.
   * @throws ObjectExistsError when the key is taken by another object, ObjectMissingError when there is neither an
   * object nor an append.
   */
  finishAppend(key: string): Promise<ObjectInfo>;
  /** Removes the appended bytes. */
  dropAppend(key: string): Promise<void>;
  /** Keys with an unfinished append. */
  listAppends(prefix: string): AsyncIterable<{ key: string; modifiedAt: Date }>;
  /**
   * Removes what killed processes left behind: temporary files, test objects and open multipart uploads not written to
   * since `olderThan`; in a bucket only below the prefixes in layout.ts, since others may use it as well. Appended
   * bytes are kept (see `listAppends`).
   * @returns how many were removed.
   */
  sweepLeftovers(olderThan: Date): Promise<number>;
  /**
   * The key of an object by its name in the bucket, as the bucket's notifications name it; null for objects of others.
   * On a local store the name is the key.
   */
  ownKey(name: string): string | null;
  /** Closes connections. */
  close(): Promise<void>;
}
