import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../../../../test/support/port.ts";

/** A connection between client and server that the tests cut, stop and measure. */
export interface Line {
  /** Where clients reach the server. */
  readonly url: string;
  /** Bytes that clients have sent so far, with the headers. */
  readonly sent: number;
  /** How often it was cut. */
  readonly cuts: number;
  /** Sets the server's port. */
  leadTo(url: string): void;
  /** Cuts every connection once this many more bytes have reached the server. */
  cutAfter(bytes: number): void;
  /** Blocks both directions of the connection of the client with this port. */
  freeze(clientPort: number | undefined): void;
  /** Called with each chunk from a client before it is passed on; may wait. */
  onPiece(listener: (() => Promise<void>) | null): void;
  close(): void;
}

/** What a proxy responds while the server behind it is down. */
const badGateway = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/**
 * Opens a proxy on its own port, so that its URL can be the server's base URL.
 * @param options.respondsWhenDown responds with 502 while the server is down, instead of ending the connection.
 */
export async function openLine(options: { readonly respondsWhenDown?: boolean } = {}): Promise<Line> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  const frozen = new WeakSet<Socket>();
  let target = 0;
  let sent = 0;
  let cuts = 0;
  let left = Number.POSITIVE_INFINITY;
  let listener: (() => Promise<void>) | null = null;

  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
    left = Number.POSITIVE_INFINITY;
    cuts += 1;
  };
  const server = createServer((client) => {
    const behind = connect(target, "127.0.0.1");
    behind.once("error", ({ code }: NodeJS.ErrnoException) => {
      if (code !== "ECONNREFUSED" || !options.respondsWhenDown) return;
      // The other end closes the connection.
      frozen.add(client);
      client.end(badGateway);
    });
    for (const [socket, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(socket);
      // These tests are about cut connections.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        if (!frozen.has(client)) other.destroy();
      });
    }
    behind.on("data", (piece) => {
      if (!frozen.has(client)) client.write(piece);
    });
    void (async () => {
      try {
        for await (const piece of client.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
          await listener?.();
          if (frozen.has(client)) continue;
          const passed = piece.subarray(0, left);
          sent += passed.length;
          left -= passed.length;
          if (!behind.write(passed))
            await new Promise((next) => behind.once("drain", next).once("close", next));
          if (left > 0) continue;
          // Forwarded bytes reach the server before the end does.
          await new Promise<void>((done) => behind.end(() => done()));
          cutAll();
        }
        behind.end();
      } catch {
        // The client cut the connection itself.
        behind.destroy();
      }
    })();
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${port}`,
    get sent() {
      return sent;
    },
    get cuts() {
      return cuts;
    },
    leadTo(url) {
      target = Number(new URL(url).port);
    },
    cutAfter(bytes) {
      left = bytes;
    },
    freeze(clientPort) {
      for (const socket of sockets) if (socket.remotePort === clientPort) frozen.add(socket);
    },
    onPiece(next) {
      listener = next;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Repeatable random numbers from 0 to below 1. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    // A linear congruential generator with the constants of Numerical Recipes.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
