import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";

/** A multipart/form-data body (RFC 7578) that is read from disk while it is sent. */
export interface MultipartBody {
  readonly contentType: string;
  /** Bytes, known in advance, since some servers accept no chunked bodies. */
  readonly contentLength: number;
  stream(): Readable;
}

/**
 * Builds a form with one file.
 * @param file.path is read when the body is sent; it must not change until then.
 * @throws the file system's error when there is no such file.
 */
export async function formWithFile(
  fields: readonly (readonly [name: string, value: string])[],
  file: { name: string; path: string; fileName: string; contentType: string },
): Promise<MultipartBody> {
  const boundary = `parley-${randomUUID()}`;
  const { size } = await stat(file.path);
  const head = Buffer.from(
    fields
      .map(
        ([name, value]) =>
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      )
      .join("") +
      `--${boundary}\r\nContent-Disposition: form-data; name="${file.name}"; filename="${file.fileName}"\r\n` +
      `Content-Type: ${file.contentType}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* parts(): AsyncGenerator<Buffer> {
    yield head;
    if (size > 0) yield* createReadStream(file.path, { end: size - 1, highWaterMark: 256 * 1024 });
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: head.length + size + tail.length,
    stream: () => Readable.from(parts(), { objectMode: false }),
  };
}
