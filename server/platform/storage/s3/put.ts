import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { PutObjectCommand, type PutObjectCommandInput } from "@aws-sdk/client-s3";
import { readBody, throwIfAborted } from "../body.ts";
import { writeChunks } from "../local/file-writer.ts";
import { ObjectExistsError, type ObjectInfo, type PutOptions } from "../store.ts";
import { createWriteTraffic } from "../write-traffic.ts";
import { answered, ask, bareEtag, headObject, isPassing, markName, type S3Context } from "./client.ts";

/** A body of known length up to this size is buffered first: the library retries only what it has in memory. */
const pieceBytes = 8 * 1024 * 1024;
const attempts = 4;

/** The data to store: bytes that can be sent again, or a stream that cannot. */
export interface PutBody {
  readonly size: number;
  /** Called once for each attempt. */
  open(): Buffer | Readable;
  readonly isRepeatable: boolean;
}

export interface PutRules {
  readonly ifAbsent?: boolean;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  /** Distinguishes the object from those of other puts; random by default. */
  readonly mark?: string;
}

/** The store's `put`. A body of unknown length is written to a temporary file first, since S3 requires the length. */
export async function put(
  context: S3Context,
  key: string,
  body: Readable | Buffer,
  options: PutOptions,
): Promise<ObjectInfo> {
  const length = Buffer.isBuffer(body) ? (options.contentLength ?? body.length) : options.contentLength;
  const chunks = readBody(body, { ...options, ...(length !== undefined && { contentLength: length }) });
  if (length === undefined) return spooled(context, chunks, (file) => putBody(context, key, file, options));
  if (length <= pieceBytes) {
    const parts: Buffer[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    return putBody(context, key, bufferBody(Buffer.concat(parts)), options);
  }
  // As an object stream it would count chunks; this counts bytes.
  const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 1024 * 1024 });
  try {
    return await putBody(context, key, { size: length, open: () => stream, isRepeatable: false }, options);
  } finally {
    stream.destroy();
    // If the signal aborts before the body is read, nothing else destroys it.
    if (options.signal?.aborted && !Buffer.isBuffer(body)) body.destroy();
  }
}

/** A body in memory. */
export function bufferBody(buffer: Buffer): PutBody {
  return { size: buffer.length, open: () => buffer, isRepeatable: true };
}

/** A body that is part of a file. */
export function fileBody(path: string, start: number, size: number): PutBody {
  return {
    size,
    isRepeatable: true,
    open: () =>
      size === 0
        ? Buffer.alloc(0)
        : createReadStream(path, { start, end: start + size - 1, highWaterMark: 512 * 1024 }),
  };
}

/**
 * Stores one object.
 * @throws ObjectExistsError with `ifAbsent` when the key is taken by an object without our marker.
 */
export async function putBody(
  context: S3Context,
  key: string,
  body: PutBody,
  rules: PutRules,
): Promise<ObjectInfo> {
  const mark = rules.mark ?? randomUUID();
  if (rules.ifAbsent && context.mayLackConditions) {
    const there = await headObject(context, key);
    if (there !== null && there.mark !== mark) throw new ObjectExistsError(`${key} is taken`);
  }
  const input: PutObjectCommandInput = {
    Bucket: context.bucket,
    Key: context.prefix + key,
    ContentLength: body.size,
    Metadata: { [markName]: mark },
    ...(rules.ifAbsent && { IfNoneMatch: "*" }),
    ...(rules.contentType !== undefined && { ContentType: rules.contentType }),
  };
  try {
    const { ETag } = await send(body, rules.signal, (Body, abortSignal) =>
      ask(context, "store", key, () =>
        context.client.send(new PutObjectCommand({ ...input, Body }), { abortSignal }),
      ),
    );
    return { key, size: body.size, etag: bareEtag(ETag), modifiedAt: new Date() };
  } catch (error) {
    if (rules.ifAbsent && context.mayLackConditions && answered(error, 501))
      return putBody(context, key, body, { ...rules, ifAbsent: false, mark });
    // 409: another put of the same key was in flight.
    if (!rules.ifAbsent || !(answered(error, 412) || answered(error, 409))) throw error;
    const there = await headObject(context, key);
    // The library retried after the response to a successful put was lost.
    if (there?.mark === mark) return there.info;
    throw new ObjectExistsError(`${key} is taken`, { cause: error });
  }
}

/**
 * Sends a body and, if possible, sends it again when the connection or the server failed temporarily. The library does
 * not retry streams; nor does it notice when a stream fails, and would wait for the rest indefinitely.
 */
export async function send<T>(
  body: PutBody,
  signal: AbortSignal | undefined,
  request: (body: Buffer | Readable, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const abort = new AbortController();
    const signals = signal === undefined ? abort.signal : AbortSignal.any([signal, abort.signal]);
    const content = body.open();
    let failure: { error: unknown } | undefined;
    if (content instanceof Readable) {
      content.on("error", (error) => {
        failure ??= { error };
        abort.abort();
      });
    }
    try {
      return await request(content, signals);
    } catch (error) {
      // The store reports the body's own error, not that of the request.
      if (failure !== undefined) throw failure.error;
      throwIfAborted(signal, error);
      const mayRepeat = body.isRepeatable && !signals.aborted && attempt < attempts;
      const isConflict = answered(error, 409, "ConditionalRequestConflict");
      // The library has already retried a buffer several times, except after a conflict.
      if (!mayRepeat || !(isConflict || (content instanceof Readable && isPassing(error)))) throw error;
      await delay(50 * 2 ** attempt);
    } finally {
      if (content instanceof Readable) content.destroy();
    }
  }
}

/** Writes chunks to a temporary file, which exists while `use` runs. */
async function spooled<T>(
  context: S3Context,
  chunks: AsyncIterable<Buffer>,
  use: (body: PutBody) => Promise<T>,
): Promise<T> {
  // Named like all scratch folders (media/scratch.ts), so that its sweep finds the remains of a killed process.
  const name = `${hostname().replace(/[^\w.-]/g, "-")}_${process.pid}_${randomUUID()}`;
  const folder = join(context.scratchDir, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const path = join(folder, "body");
    const file = await open(path, "wx", 0o600);
    try {
      await writeChunks(file, 0, chunks, createWriteTraffic(0));
    } finally {
      await file.close();
    }
    return await use(fileBody(path, 0, (await stat(path)).size));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
