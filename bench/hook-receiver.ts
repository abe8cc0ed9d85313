import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What came since the counting began, with times by `performance.now()`. */
interface Arrivals {
  readonly firstMs: number;
  readonly lastMs: number;
  /** How many of them had a webhook-id of their own. */
  readonly distinct: number;
}

export interface Receiver {
  readonly port: number;
  /** Counts requests from now on. @returns what waits for the last of them; it fails when not all have come in time. */
  expect(count: number): () => Promise<Arrivals>;
  stop(): void;
}

const timeoutMs = 120_000;

/**
 * Receives webhooks. `/ok` returns 200, `/hang` never responds. It listens on every IP address of the machine, so that each
 * hook can have an origin of its own below 127.0.0.0/8.
 */
export async function startReceiver(): Promise<Receiver> {
  let arrived: (id: string) => void = () => {};
  // Senders keep connections for four seconds: none of them is to end here.
  const server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => {
    request.resume().on("end", () => {
      if (request.url?.startsWith("/hang")) return;
      arrived(String(request.headers["webhook-id"]));
      response.writeHead(200, { "content-length": "0" }).end();
    });
  });
  server.listen({ port: 0, host: "0.0.0.0", backlog: 4096 });
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    expect(count) {
      const { promise, resolve, reject } = Promise.withResolvers<Arrivals>();
      const ids = new Set<string>();
      let seen = 0;
      let firstMs = 0;
      const timer = setTimeout(
        () => reject(new Error(`${seen} of ${count} webhooks arrived in ${timeoutMs / 1000} s`)),
        timeoutMs,
      );
      arrived = (id) => {
        ids.add(id);
        seen += 1;
        if (seen === 1) firstMs = performance.now();
        if (seen !== count) return;
        clearTimeout(timer);
        resolve({ firstMs, lastMs: performance.now(), distinct: ids.size });
      };
      return () => promise;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
