// Runs alone: it replaces the timers that requests of other files share.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, afterEach, mock, test } from "node:test";
import { ProblemError } from "../errors/problem.ts";
import { watch } from "./watch-access.ts";

const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
afterEach(() => mock.timers.reset());
after(() => {
  server.closeAllConnections();
  server.close();
});

/** A response that a client waits for. */
async function begin() {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => {});
  const arrived = once(server, "request");
  socket.write("GET / HTTP/1.1\r\nhost: parley.test\r\n\r\n");
  const response = (await arrived)[1] as ServerResponse;
  return { socket, response };
}

test("checks stop when the client disconnects, also before the watch begins", async () => {
  const [gone, leaving] = [await begin(), await begin()];
  const isGone = once(gone.response, "close");
  gone.socket.destroy();
  await isGone;
  mock.timers.enable({ apis: ["setInterval"] });
  let asked = 0;
  const isStillGood = async () => {
    asked += 1;
    return true;
  };
  watch(gone.response, isStillGood);
  mock.timers.tick(60_000);
  assert.equal(asked, 0);
  watch(leaving.response, isStillGood);
  mock.timers.tick(500);
  assert.equal(asked, 1);
  const isClosed = once(leaving.response, "close");
  leaving.socket.destroy();
  await isClosed;
  mock.timers.tick(60_000);
  assert.equal(asked, 1);
});

test("checks that take longer, or should run less often, are not repeated meanwhile", async () => {
  const [slow, rare] = [await begin(), await begin()];
  mock.timers.enable({ apis: ["setInterval"] });
  const asked = { slow: 0, rare: 0 };
  watch(slow.response, () => {
    asked.slow += 1;
    return new Promise(() => {});
  });
  watch(
    rare.response,
    async () => {
      asked.rare += 1;
      return true;
    },
    2000,
  );
  for (let tick = 0; tick < 8; tick += 1) {
    mock.timers.tick(500);
    await new Promise((next) => setImmediate(next));
  }
  assert.deepEqual(asked, { slow: 1, rare: 2 });
  const areClosed = Promise.all([once(slow.response, "close"), once(rare.response, "close")]);
  slow.socket.destroy();
  rare.socket.destroy();
  await areClosed;
  mock.timers.tick(500);
});

test("a revoked link cuts its response; an unreachable database does not", async () => {
  const { response } = await begin();
  mock.timers.enable({ apis: ["setInterval"] });
  let answer: Error = new Error("the database is away");
  watch(response, () => Promise.reject(answer));
  mock.timers.tick(500);
  await new Promise((next) => setImmediate(next));
  assert.equal(response.destroyed, false);
  answer = new ProblemError("not_found", "revoked");
  const isClosed = once(response, "close");
  mock.timers.tick(500);
  await isClosed;
  mock.timers.tick(500);
});
