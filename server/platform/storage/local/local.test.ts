import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { link, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../../../../test/support/until.ts";
import { BodyBrokenError, ObjectExistsError } from "../store.ts";
import { testObjectStore } from "../test/conformance.ts";
import { all, newKey, read, sampleBytes } from "../test/conformance-tools.ts";
import { openLocalStore } from "./local.ts";

const folder = await mkdtemp(join(tmpdir(), "parley-store-"));
const store = await openLocalStore(folder);
after(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});
const temporary = join(folder, "objects", ".tmp");

testObjectStore(() => store);

test("put: files and folders are for this user alone, and no temporary file stays", async () => {
  const key = newKey();
  await store.put(key, Buffer.from("x"));
  const path = store.localPath(key) as string;
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal((await stat(dirname(path))).mode & 0o777, 0o700);
  assert.deepEqual(await readdir(temporary), []);
});

test("a folder that the operator has replaced with a symbolic link is written to, and removing its last object leaves it", async () => {
  const outside = await mkdtemp(join(tmpdir(), "parley-vault-"));
  after(() => rm(outside, { recursive: true }));
  await symlink(outside, join(folder, "objects", "linked"));
  await store.put("linked/2026/a.md", Buffer.from("one"), { ifAbsent: true });
  await store.put("linked/2026/a.md", Buffer.from("two"));
  assert.equal(await readFile(join(outside, "2026", "a.md"), "utf8"), "two");
  await assert.rejects(
    store.put("linked/2026/a.md", Buffer.from("x"), { ifAbsent: true }),
    ObjectExistsError,
  );
  await store.delete("linked/2026/a.md");
  assert.deepEqual(await readdir(outside), []);
  assert.ok((await readdir(join(folder, "objects"))).includes("linked"));
  await rm(join(folder, "objects", "linked"));
});

test("put of a store that may block: many small objects at once are stored like single ones, and one that fails fails alone", async () => {
  const blocking = await openLocalStore(folder, "grouped", { mayBlock: true });
  const hidden = join(folder, "grouped", ".tmp");
  await blocking.put("many/taken", Buffer.from("an object"));
  const bodies = new Map(
    Array.from({ length: 300 }, (_, index) => [
      `many/${index % 7}/${index}`,
      sampleBytes(index === 150 ? 200_000 : index),
    ]),
  );
  const failing = blocking.put("many/taken/below", Buffer.from("x"));
  const [infos] = await Promise.all([
    Promise.all([...bodies].map(([key, body]) => blocking.put(key, body))),
    assert.rejects(failing),
  ]);
  for (const [index, [key, body]] of [...bodies].entries()) {
    assert.ok((await read(blocking, key)).equals(body), key);
    assert.deepEqual(infos[index], await blocking.head(key));
  }
  assert.equal((await stat(blocking.localPath("many/1/1") ?? "")).mode & 0o777, 0o600);
  assert.equal((await stat(join(folder, "grouped", "many", "1"))).mode & 0o777, 0o700);
  assert.deepEqual(await readdir(hidden), []);
  const replaced = await blocking.put("many/1/1", Buffer.from("other"));
  assert.notEqual(replaced.etag, infos[1]?.etag);
  assert.equal((await read(blocking, "many/1/1")).toString(), "other");
  await assert.rejects(blocking.put("many/1/1", Buffer.from("third"), { ifAbsent: true }), ObjectExistsError);
});

test("put of a store that may block: also while others remove the folder", async () => {
  const blocking = await openLocalStore(folder, "grouped-racing", { mayBlock: true });
  const turns = Array.from({ length: 40 }, (_, index) => `racing/folder/${index % 2}`);
  await Promise.all(
    turns.map(async (key) => {
      await blocking.put(key, Buffer.from("x"));
      await blocking.delete(key);
    }),
  );
  await assert.rejects(stat(join(folder, "grouped-racing", "racing")), { code: "ENOENT" });
});

test("delete: folders that it leaves empty go as well, also while others put into them", async () => {
  const turns = Array.from({ length: 40 }, (_, index) => `racing/folder/${index % 2}`);
  await Promise.all(
    turns.map(async (key) => {
      await store.put(key, Buffer.from("x"));
      await store.delete(key);
    }),
  );
  await assert.rejects(stat(join(folder, "objects", "racing")), { code: "ENOENT" });
});

test("putFile: takes the file itself by a link, which stays when the source goes", async () => {
  const key = newKey();
  const source = join(folder, "source");
  await writeFile(source, "content");
  await store.putFile(key, source);
  assert.equal((await stat(source)).ino, (await stat(store.localPath(key) as string)).ino);
  await rm(source);
  assert.equal((await read(store, key)).toString(), "content");
});

test("finishAppend: after a crash between link and removal it carries on", async () => {
  const key = newKey();
  await store.append(key, 0, Readable.from([Buffer.from("linked")]));
  const partial = join(folder, "objects", ".partial", key);
  await rm(dirname(store.localPath(key) as string), { recursive: true, force: true });
  await store.put(`${dirname(key)}/other`, Buffer.from("x"));
  await link(partial, store.localPath(key) as string);
  const growing = store.append(key, 6, Readable.from([Buffer.from("more")]));
  await assert.rejects(growing, ObjectExistsError);
  assert.equal((await store.finishAppend(key)).size, 6);
  assert.equal(await store.appended(key), null);
  assert.equal((await read(store, key)).toString(), "linked");
});

test("sweepLeftovers: temporary files that nobody writes to go, others stay; opening sweeps those of a day", async () => {
  const [old, fresh] = [join(temporary, "old"), join(temporary, "fresh")];
  await writeFile(old, "x");
  await writeFile(fresh, "x");
  const dayBefore = new Date(Date.now() - 25 * 3600 * 1000);
  await utimes(old, dayBefore, dayBefore);
  assert.equal(await store.sweepLeftovers(new Date(Date.now() - 24 * 3600 * 1000)), 1);
  assert.deepEqual(await readdir(temporary), ["fresh"]);
  await utimes(fresh, dayBefore, dayBefore);
  await openLocalStore(folder);
  assert.deepEqual(await readdir(temporary), []);
});

test("put: of an HTTP request that is cut keeps nothing, and one refused for its size can still be answered", async () => {
  const results: unknown[] = [];
  const server = createServer(async (incoming, response) => {
    try {
      await store.put("http/object", incoming, { maxBytes: 1_000_000 });
      response.writeHead(200).end();
    } catch (error) {
      results.push(error);
      response.writeHead(413, { connection: "close" }).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    const cut = request({ port, method: "PUT", headers: { "content-length": 500_000 } });
    // It is this side that cuts the line.
    cut.on("error", () => {});
    cut.write(Buffer.alloc(300_000));
    await until("the body is being written", async () => (await readdir(temporary)).length === 1);
    cut.destroy();
    await until("the put ends", () => results.length === 1);
    assert.ok(results[0] instanceof BodyBrokenError);
    const large = request({ port, method: "PUT", headers: { "content-length": 2_000_000 } });
    large.write(Buffer.alloc(1_100_000));
    const [answer] = await once(large, "response");
    assert.equal(answer.statusCode, 413);
    large.on("error", () => {});
    large.destroy();
    assert.equal(await store.head("http/object"), null);
    assert.deepEqual(await readdir(temporary), []);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("put: a process killed in the middle leaves nothing that a list shows, and the key is free", async () => {
  const writer = `
    import { PassThrough } from "node:stream";
    import { openLocalStore } from ${JSON.stringify(fileURLToPath(new URL("./local.ts", import.meta.url)))};
    const store = await openLocalStore(process.argv[1]);
    const body = new PassThrough();
    setInterval(() => body.write(Buffer.alloc(1024 * 1024)), 10);
    await store.put("killed/object", body, { ifAbsent: true });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", writer, folder], { stdio: "inherit" });
  const exited = once(child, "exit");
  const written = async (): Promise<boolean> => {
    const [name] = await readdir(temporary);
    return name !== undefined && (await stat(join(temporary, name))).size >= 1024 * 1024;
  };
  await until("the body is being written", written);
  child.kill("SIGKILL");
  await exited;
  assert.deepEqual(await all(store.list("killed/")), []);
  const bytes = sampleBytes(1000);
  await store.put("killed/object", bytes, { ifAbsent: true });
  assert.ok(bytes.equals(await read(store, "killed/object")));
  assert.equal(await store.sweepLeftovers(new Date(Date.now() + 1000)), 1);
});

test("probe: says what is wrong with the folder", async () => {
  const lost = await mkdtemp(join(tmpdir(), "parley-lost-"));
  const broken = await openLocalStore(lost);
  await rm(lost, { recursive: true });
  await assert.rejects(broken.probe(), /^Error: the folder .*objects did not accept a test object: ENOENT/);
  await assert.rejects(broken.check(), /^Error: files can't be written to the folder .*objects: ENOENT/);
});
