import type { Socket } from "node:net";

/** The beginning of an interim response 100, whose status line begins with these characters. */
const beginnings = ["HTTP/1.1 100", "HTTP/1.0 100"];
const beginningBytes = 12;

/** A longer one is left to the parser, which refuses it. */
const maxBytes = 16 * 1024;

/**
 * Makes a socket skip interim responses 100 (Continue) that were not asked for. A client has to expect them; undici treats
 * them as an error. Source: RFC 9110, section 15.2.
 */
export function skipInterim(socket: Socket): void {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)];
  /** Whether the next bytes begin a response. */
  let isBeginning = true;
  let held: Buffer = Buffer.alloc(0);

  socket.write = ((...parameters: Parameters<Socket["write"]>) => {
    isBeginning = true;
    return write(...parameters);
  }) as Socket["write"];

  socket.read = (size) => {
    for (;;) {
      const chunk: Buffer | null = read(size);
      if (!isBeginning || chunk === null) return chunk;
      held = Buffer.concat([held, chunk]);
      const rest = withoutInterim(held);
      if (rest === null) continue;
      isBeginning = false;
      held = Buffer.alloc(0);
      return rest;
    }
  };
}

/** @returns what follows the interim responses; null: more has to arrive to know. */
function withoutInterim(bytes: Buffer): Buffer | null {
  let at = 0;
  for (;;) {
    const text = bytes.toString("latin1", at, at + beginningBytes);
    if (!beginnings.some((beginning) => beginning.startsWith(text))) return bytes.subarray(at);
    if (text.length < beginningBytes) return null;
    const end = bytes.indexOf("\r\n\r\n", at);
    if (end === -1) return bytes.length - at > maxBytes ? bytes.subarray(at) : null;
    at = end + 4;
  }
}
