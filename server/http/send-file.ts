import type { FileHandle } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { cutWhenStalled } from "./time-limits.ts";

/**
 * Bytes read and sent at a time; two such buffers belong to a download as long as it lasts. A stream takes new memory
 * for each piece, and clearing that away took two thirds of a download's processor time.
 */
const pieceBytes = 256 * 1024;

/** How long a client may take nothing. */
const stalledMs = 120_000;

/**
 * Sends a part of a file as the body of a response, and ends the response. One piece is read while the other is on its
 * way. Stops when the client leaves. Where the file can't be read the connection is cut: the status is out already.
 * @param file is closed in the end.
 * @param part first byte and length, in bytes.
 */
export async function sendFile(
  file: FileHandle,
  part: { readonly start: number; readonly length: number },
  response: ServerResponse,
): Promise<void> {
  // Who takes nothing for so long is gone, or holds the file open on purpose.
  cutWhenStalled(response, stalledMs);
  // What goes wrong with the connection closes the response as well, which is looked at below.
  response.on("error", () => {});
  /** Resolves once the piece's memory is free again, or nobody is there any more to take it. */
  const send = (piece: Buffer): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        response.off("close", done);
        resolve();
      };
      response.once("close", done);
      response.write(piece, done);
    });
  try {
    const size = Math.min(pieceBytes, part.length);
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
