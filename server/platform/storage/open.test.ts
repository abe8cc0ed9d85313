import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setS3Credentials } from "../../../test/support/s3-credentials.ts";
import { until } from "../../../test/support/until.ts";
import { openStore } from "./open.ts";

setS3Credentials();

test("S3: keys carry the prefix; a body of unknown length waits in scratch/, under a name whose sweep knows it; check stores nothing", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-open-"));
  const asked: string[] = [];
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url?.replace(/\?.*/, "")}`);
    incoming.resume().on("end", () => response.writeHead(200, { etag: '"e"' }).end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const s3 = { bucket: "b", region: "us-east-1", endpoint, forcePathStyle: true, prefix: "team/parley/" };
  const store = await openStore({ dataDir, storage: "s3", s3 });
  const scratch = join(dataDir, "scratch");
  try {
    const body = new PassThrough();
    const putting = store.put("uploads/a/file", body);
    body.write("hello");
    const name = await until(
      "the body is being spooled",
      async () => (await readdir(scratch).catch(() => []))[0],
    );
    const [host, pid, id, ...more] = name.split("_");
    assert.deepEqual([host, pid, more], [hostname().replace(/[^\w.-]/g, "-"), String(process.pid), []]);
    assert.match(id ?? "", /^[0-9a-f-]{36}$/);
    for (const folder of [scratch, join(scratch, name)])
      assert.equal((await stat(folder)).mode & 0o777, 0o700);
    assert.deepEqual(asked, []);
    body.end();
    assert.equal((await putting).size, 5);
    assert.deepEqual(await readdir(scratch), []);
    await store.check();
    assert.deepEqual(asked, ["PUT /b/team/parley/uploads/a/file", "HEAD /b/"]);
    assert.equal(store.ownKey("team/parley/uploads/a/file"), "uploads/a/file");
  } finally {
    await store.close();
    server.closeAllConnections();
    server.close();
    await rm(dataDir, { recursive: true });
  }
});

test("local: a bucket's name for an object is the key itself", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-open-"));
  const store = await openStore({ dataDir, storage: "local", s3: null });
  assert.equal(store.ownKey("uploads/a/file"), "uploads/a/file");
  await store.close();
  await rm(dataDir, { recursive: true });
});
