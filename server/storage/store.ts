import type { Readable } from "node:stream";

/** What a store knows of an object. */
export interface ObjectInfo {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Changes whenever the content does; without quotes. */
  readonly etag: string;
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
export class ObjectExistsError extends Error {}
/** Nothing is at the key. */
export class ObjectMissingError extends Error {}
/** The body is longer than allowed. */
export class ObjectTooLargeError extends Error {}
/** The body ended early, or is not as long as announced. */
export class BodyBrokenError extends Error {}
/** An append does not continue where the object ends. */
export class OffsetError extends Error {}

/**
 * Where files are kept: a local folder or S3. Keys are paths such as `uploads/<id>/original`: segments of letters,
 * digits and `._=-`, joined by `/`, at most 512 bytes; everything else is refused. What a call has acknowledged
 * survives a crash of the process and of the machine; what it has not leaves nothing behind that `list` shows.
 */
export interface ObjectStore {
  readonly kind: "local" | "s3";
  /**
   * Writes, reads a range of and removes a small object.
   * @throws Error whose message says in one line which step failed and why.
   */
  probe(): Promise<void>;
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
  /** @throws ObjectMissingError. A range that goes past the end is cut; one that begins past it is a RangeError. */
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
   */
  downloadLink(key: string, options: LinkOptions): Promise<string | null>;
  /**
   * A link by which a client may put the object once (the headers make a second PUT fail), or null when the server
   * must take the bytes.
   */
  uploadLink(key: string, options: { expiresAt: Date }): Promise<UploadLink | null>;

  /**
   * Resumable writing. `append` adds bytes at `offset` to what has arrived for a key; what arrived before a cut is
   * kept (S3: except at most the last 5 MiB) and counts. Two appends to one key at a time are the caller's to prevent.
   * @returns the new offset.
   * @throws OffsetError when offset is not where it ends, ObjectTooLargeError.
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
   * Makes the object of what was appended, and forgets the parts. May be called again after a crash.
   * @throws ObjectExistsError when the key is taken, ObjectMissingError when nothing was appended.
   */
  finishAppend(key: string): Promise<ObjectInfo>;
  /** Forgets what was appended. */
  dropAppend(key: string): Promise<void>;
  /** Keys for which something was appended and not finished. */
  listAppends(prefix: string): AsyncIterable<{ key: string; modifiedAt: Date }>;
  /** Lets go of connections. */
  close(): Promise<void>;
}
