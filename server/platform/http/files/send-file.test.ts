import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, test } from "node:test";
import { sendFile } from "./send-file.ts";

const folder = await mkdtemp(join(tmpdir(), "parley-send-"));
after(() => rm(folder, { recursive: true, force: true }));
const bytes = randomBytes(16_000_001);
const path = join(folder, "file");
await writeFile(path, bytes);

/** A server that sends a part of the file once, and what came of it. */
async function sendOnce(start: number, length: number, read: (answer: IncomingMessage) => Promise<unknown>) {
  const file = await open(path);
  const sent = Promise.withResolvers<void>();
  const server = createServer((_request, response: ServerResponse) => {
    response.writeHead(200, { "content-length": length });
    sendFile(file, { start, length }, response).then(sent.resolve, sent.reject);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const asking = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { agent: false });
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    const result = await read(answer);
    await sent.promise;
    // A closed handle has no descriptor.
    assert.equal(file.fd, -1);
    return result;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test("send: any part of the file arrives unchanged, and the file is closed", async () => {
  for (const [start, length] of [
    [0, bytes.length],
    [0, 0],
    [5, 1],
    [1, 262_144],
    [262_143, 262_145],
    [15_999_999, 2],
  ] as const) {
    const got = (await sendOnce(start, length, buffer)) as Buffer;
    assert.ok(got.equals(bytes.subarray(start, start + length)), `${length} from ${start}`);
  }
});

test("send: a slow reader gets the same bytes", async () => {
  const got = await sendOnce(0, bytes.length, async (answer) => {
    const pieces: Buffer[] = [];
    for await (const piece of answer) {
      pieces.push(piece as Buffer);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return Buffer.concat(pieces);
  });
  assert.ok((got as Buffer).equals(bytes));
});

test("send: stops when the client disconnects, and the file is closed", async () => {
  await sendOnce(0, bytes.length, async (answer) => {
    await once(answer, "readable");
    answer.destroy();
  });
});

test("send: a file that ends early cuts the connection instead of completing the response", async () => {
  const error = await sendOnce(bytes.length - 10, 20, (answer) =>
    buffer(answer).then(
      () => null,
      (fault: Error) => fault,
    ),
  );
  assert.ok(error instanceof Error);
});
