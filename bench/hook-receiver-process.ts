import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Arrivals, ReceiverOrder } from "./hook-receiver.ts";

/**
 * Receives webhooks in its own process. `/ok` returns 200, `/hang` never responds. It listens on every IP address of the
 * machine, so that each hook can have an origin of its own below 127.0.0.0/8.
 */

let order: ReceiverOrder = { expect: 0 };
let count = 0;
let firstMs = 0;
let ids = new Set<string>();

/** The same clock in every process of the machine. */
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

function arrived(request: IncomingMessage): void {
  ids.add(String(request.headers["webhook-id"]));
  count += 1;
  if (count === 1) firstMs = nowMs();
  if (count !== order.expect) return;
  const arrivals: Arrivals = { firstMs, lastMs: nowMs(), count, distinct: ids.size };
  process.send?.({ arrivals });
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  request.on("end", () => {
    if (request.url?.startsWith("/hang")) return;
    arrived(request);
    response.writeHead(200, { "content-length": "0" }).end();
  });
}

process.on("message", (next: ReceiverOrder) => {
  order = next;
  count = 0;
  ids = new Set();
  process.send?.({ isCounting: true });
});
process.on("disconnect", () => process.exit());

// Senders keep connections for four seconds: none of them is to end here.
const server = createServer({ keepAliveTimeout: 30_000 }, answer);
server.listen({ port: 0, host: "0.0.0.0", backlog: 4096 }, () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
