import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { PutObjectCommand, type PutObjectCommandInput } from "@aws-sdk/client-s3";
import { readBody, refuseIfGivenUp } from "./body.ts";
import { writeChunks } from "./file-writer.ts";
import { answered, ask, bareEtag, isPassing, lookAt, markName, type S3Context } from "./s3-client.ts";
import { ObjectExistsError, type ObjectInfo, type PutOptions } from "./store.ts";
import { createWriteTraffic } from "./write-traffic.ts";

/** A body of known length up to this is gathered first: the library tries again only what it has whole. */
const gatherBytes = 8 * 1024 * 1024;
const attempts = 4;

/** What is put: bytes that can be sent again, or a stream that cannot. */
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
  /** Tells the object from one that another put made; a chance one by default. */
  readonly mark?: string;
}

/** The port's `put`. A body of unknown length is written to a temporary file first, since S3 wants to know it. */
export async function put(
  context: S3Context,
  key: string,
  body: Readable | Buffer,
  options: PutOptions,
): Promise<ObjectInfo> {
  const length = Buffer.isBuffer(body) ? (options.contentLength ?? body.length) : options.contentLength;
  const chunks = readBody(body, { ...options, ...(length !== undefined && { contentLength: length }) });
  if (length === undefined) return spooled(context, chunks, (file) => putBody(context, key, file, options));
  if (length <= gatherBytes) {
    const parts: Buffer[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    return putBody(context, key, bufferBody(Buffer.concat(parts)), options);
  }
  // As a stream of one object per chunk it would be counted in chunks; this counts bytes.
  const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 1024 * 1024 });
  try {
    return await putBody(context, key, { size: length, open: () => stream, isRepeatable: false }, options);
  } finally {
    stream.destroy();
    // Where the signal came before anybody read from the body, nobody else does it.
    if (options.signal?.aborted && !Buffer.isBuffer(body)) body.destroy();
  }
}

/** A body that is in memory. */
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
 * Puts one object.
 * @throws ObjectExistsError with `ifAbsent` when the key is taken by an object without our mark.
 */
export async function putBody(
  context: S3Context,
  key: string,
  body: PutBody,
  rules: PutRules,
): Promise<ObjectInfo> {
  const mark = rules.mark ?? randomUUID();
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
    // 409: another put of the same key was under way all the time.
    if (!rules.ifAbsent || !(answered(error, 412) || answered(error, 409))) throw error;
    const there = await lookAt(context, key);
    // The library tried again after the answer to a put that had succeeded was lost.
    if (there?.mark === mark) return there.info;
    throw new ObjectExistsError(`${key} is taken`, { cause: error });
  }
}

/**
 * Sends a body and, where that can be, sends it again when the way or the server failed for the moment. The library
 * does neither for streams; nor does it notice when one fails, and would wait for the rest for ever.
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
      // What the body says of its fault is what the port promises, not what became of the request.
      if (failure !== undefined) throw failure.error;
      refuseIfGivenUp(signal, error);
      const mayRepeat = body.isRepeatable && !signals.aborted && attempt < attempts;
      const isConflict = answered(error, 409, "ConditionalRequestConflict");
      // The library has already tried a buffer several times, except after a conflict.
      if (!mayRepeat || !(isConflict || (content instanceof Readable && isPassing(error)))) throw error;
      await delay(50 * 2 ** attempt);
    } finally {
      if (content instanceof Readable) content.destroy();
    }
  }
}

/** Writes chunks to a temporary file, which is there as long as `use` runs. */
async function spooled<T>(
  context: S3Context,
  chunks: AsyncIterable<Buffer>,
  use: (body: PutBody) => Promise<T>,
): Promise<T> {
  // Named as all folders for work are (media/scratch.ts), so that its sweep finds what a killed process leaves.
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
