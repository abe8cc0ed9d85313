import type { FileHandle } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { cutWhenStalled } from "../limits/time-limits.ts";

/**
 * Bytes read and sent at a time. Each download keeps two such buffers. A stream allocates memory for each chunk, and its
 * garbage collection took two thirds of a download's CPU time.
 */
const chunkBytes = 256 * 1024;

/** How long a client may read nothing. */
const stalledMs = 120_000;

/**
 * Sends a part of a file as the body of a response, and ends the response. One chunk is read while the other is being
 * sent. Stops when the client disconnects. Read errors cut the connection, because the status is already sent.
 * @param file is closed in the end.
 * @param part first byte and length, in bytes.
 */
export async function sendFile(
  file: FileHandle,
  part: { readonly start: number; readonly length: number },
  response: ServerResponse,
): Promise<void> {
  // Such a client is gone, or keeps the file open on purpose.
  cutWhenStalled(response, stalledMs);
  // Connection errors also close the response, which is checked below.
  response.on("error", () => {});
  /** Resolves when the chunk's buffer is free again or the client has disconnected. */
  const send = (chunk: Buffer): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        response.off("close", done);
        resolve();
      };
      response.once("close", done);
      response.write(chunk, done);
    });
  try {
    const size = Math.min(chunkBytes, part.length);
    const end = part.start + part.length;
    let [next, other] = [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)];
    let sending: Promise<void> = Promise.resolve();
    for (let position = part.start; position < end; ) {
      const { bytesRead } = await file.read(next, 0, Math.min(size, end - position), position);
      if (bytesRead === 0) throw new Error(`the file ends ${end - position} bytes early`);
      if (response.closed) return;
      position += bytesRead;
      const sendingOther = sending;
      sending = send(next.subarray(0, bytesRead));
      await sendingOther;
      [next, other] = [other, next];
    }
    await sending;
    response.end();
  } catch (error) {
    response.destroy(error as Error);
  } finally {
    await file.close();
  }
}
