import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { createTestDatabase } from "../support/database.ts";
import { createLibrary, failing } from "../support/library.ts";
import { makeNextVersion } from "../support/next-version.ts";
import { noS3Server, startS3Server } from "../support/s3-server.ts";
import { parley, prepareServer, type ServerProcess } from "../support/server-process.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-embedded-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const destination = join(folder, "backups");

/** An installation on the embedded database, as a first start without settings creates it. */
async function prepareEmbedded(): Promise<ServerProcess> {
  const server = await prepareServer({ databaseUrl: "" });
  after(() => server.dispose());
  return server;
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(path, name)).isFile())
    .sort();
}

const server = await prepareEmbedded();
await server.start();
const library = await createLibrary(server);
await library.uploadMedia();
const early = { backup: await parley(server, "backup", destination), recordings: await library.readAll() };
const recording = await library.uploadMedia();
const original = await library.readAll();

test("restore works into the embedded database, also of an earlier backup, and is refused while a server uses it", async () => {
  const id = await parley(server, "backup", destination);
  assert.match(
    await failing(server, "restore", destination, "--dry-run"),
    /another Parley server is already/,
  );
  await server.stop();
  const target = await prepareEmbedded();
  await parley(target, "restore", destination, "--dry-run");
  await parley(target, "restore", destination, "--at", early.backup);
  assert.match(await failing(target, "restore", destination), /already has an installation/);
  // An installation of its own, with files.
  const objects = join(target.env.PARLEY_DATA_DIR ?? "", "objects");
  const restored = filesBelow(objects);
  const others = ["recordings/9b2f/media.mp3", "uploads/9b2f/original", "imports/minutes.txt"];
  for (const key of others) {
    mkdirSync(dirname(join(objects, key)), { recursive: true });
    writeFileSync(join(objects, key), "of another installation");
  }
  await parley(target, "restore", destination, "--at", early.backup, "--replace", "--yes");
  assert.deepEqual(filesBelow(objects), restored);
  await target.start();
  assert.deepEqual(await library.readAll(target), early.recordings);
  assert.equal(await target.stop(), 0);
  await parley(target, "restore", "accept");
  const listed = (await parley(target, "backup", "list", destination)).split("\n");
  assert.deepEqual(
    listed.map((line) => line.split(" ")[0]),
    [early.backup, id],
  );
});

test("commands work on the embedded database while no server runs; an upgrade of it is rolled back, and the previous version starts again", async () => {
  const id = await parley(server, "backup", destination);
  await parley(server, "backup", "verify", destination);
  assert.match(
    await parley(server, "backup", "prune", destination, "--keep", "1d", "--json"),
    new RegExp(id),
  );
  await parley(server, "migrate", "--finish");
  const own = await createTestDatabase("template1");
  after(() => own.drop());
  await parley(server, "database", "move", own.url);
  const moved = { env: { ...server.env, PARLEY_DATABASE_URL: own.url } };
  await parley(moved, "database", "move", "embedded");
  const program = makeNextVersion("99.0.0", { "9001_next": "create table next_version (id integer)" });
  const next = await prepareServer({ databaseUrl: "", shared: server, program });
  await next.start();
  assert.deepEqual(await library.readAll(next), original);
  const deleted = await fetch(`${next.url}/_/api/v1/recordings/${recording}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${library.token}` },
  });
  assert.equal(deleted.status, 200);
  assert.equal((await library.readAll(next)).size, original.size - 1);
  assert.match(await failing(server, "upgrade", "rollback", "--yes"), /another Parley server is already/);
  await next.stop();
  assert.equal(readdirSync(join(server.env.PARLEY_DATA_DIR ?? "", "before-upgrades", "backups")).length, 1);
  await parley(next, "upgrade", "rollback", "--yes");
  await server.start();
  assert.deepEqual(await library.readAll(), original);
  assert.equal(await server.stop(), 0);
});

const s3 = await startS3Server();
after(() => s3?.stop());

test("files move to S3 and back while no server runs", {
  skip: s3 === null ? noS3Server : false,
}, async () => {
  if (s3 === null) return;
  const env = {
    PARLEY_S3_ENDPOINT: s3.endpoint,
    PARLEY_S3_BUCKET: await s3.bucket(),
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  const movable = await prepareServer({ databaseUrl: "", shared: server, env });
  const objects = join(server.env.PARLEY_DATA_DIR ?? "", "objects");
  const files = filesBelow(objects);
  await parley(movable, "storage", "migrate", "--to", "s3");
  await parley(movable, "storage", "migrate", "--to", "s3", "--remove-source");
  assert.deepEqual(filesBelow(objects), []);
  await movable.start();
  assert.deepEqual(await library.readAll(movable), original);
  assert.equal(await movable.stop(), 0);
  await parley(movable, "storage", "migrate", "--to", "local");
  // A sweep may have written an anchor of the audit log meanwhile.
  const isAnchor = (name: string) => name.startsWith("parley/audit/");
  assert.deepEqual(
    filesBelow(objects).filter((name) => !isAnchor(name)),
    files.filter((name) => !isAnchor(name)),
  );
  await movable.start();
  assert.deepEqual(await library.readAll(movable), original);
  assert.equal(await movable.stop(), 0);
});
