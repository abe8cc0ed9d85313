import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";

/** A small DNS server over UDP that serves TXT records. */
export interface TestDnsServer {
  /** IP address and port, for PARLEY_DNS_SERVERS. */
  readonly address: string;
  /** Values by name. */
  readonly records: Map<string, string[]>;
  /** Receives queries and never responds. */
  silent: boolean;
  close(): void;
}

export async function startDnsServer(): Promise<TestDnsServer> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const server: TestDnsServer = {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    records: new Map(),
    silent: false,
    close: () => socket.close(),
  };
  socket.on("message", (query, from) => {
    if (!server.silent) socket.send(respond(query, server.records), from.port, from.address);
  });
  return server;
}

/** RFC 1035: repeats the question; each record points to its name (offset 12). */
function respond(query: Buffer, records: ReadonlyMap<string, string[]>): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const question = query.subarray(12, at + 5);
  const values = records.get(labels.join(".").toLowerCase());
  const header = Buffer.from(query.subarray(0, 12));
  // A response, recursion available; 3: the name does not exist.
  header.writeUInt16BE(values === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(values?.length ?? 0, 6);
  header.writeUInt32BE(0, 8);
  const answers = (values ?? []).map((value) => {
    const text = Buffer.from(value);
    const fixed = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, text.length + 1, text.length]);
    return Buffer.concat([fixed, text]);
  });
  return Buffer.concat([header, question, ...answers]);
}
