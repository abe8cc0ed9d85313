import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, test } from "node:test";
import { unknownId } from "../../../test/support/factories.ts";
import { runJob } from "../../../test/support/run-job.ts";
import { until } from "../../../test/support/until.ts";
import { recordingObjectKey, uploadFileKey } from "../../platform/storage/layout.ts";
import { startUploads, sweepLog } from "../../processing/uploads/test/uploads.ts";
import { countUnknown, removeOrphans } from "./orphans.ts";
import { adoptStore, markKey, refusalToSweep } from "./owner-marker.ts";
import { removeOrphanedFilesKind } from "./remove-orphans.ts";

const { app, create, staged } = await startUploads({ worker: false });
const { db, store } = app;
const { log, lines } = sweepLog();

/** Not known to this database: another database's recording. */
const foreign = recordingObjectKey(unknownId(), "media.mp4");

beforeEach(async () => {
  await store.delete(markKey);
  await db.pool.query("update installation set store_id = null");
  await store.delete(foreign);
  lines.length = 0;
});

function put(key: string) {
  return store.put(key, Buffer.from("a file"));
}

async function readMarker(): Promise<{ installation: string; high: number }> {
  const { body } = await store.get(markKey);
  const { installation, high } = JSON.parse(Buffer.concat(await body.toArray()).toString());
  return { installation, high };
}

async function installation(): Promise<{ id: string; high: number }> {
  const { rows } = await db.pool.query("select id, swept_event_id::int as high from installation");
  return rows[0];
}

/** What the worker does at every sweep. */
async function sweep(): Promise<number | null> {
  const refusal = await refusalToSweep(db, store);
  if (refusal === null) return removeOrphans(db, store, log);
  log.error(refusal);
  return null;
}

test("a store whose objects are all known is marked, once; files of finished uploads are known", async () => {
  const { id } = (await create({ media_type: "video" })).body;
  await put(uploadFileKey(id));
  await db.pool.query("update uploads set status = 'failure' where id = $1", [id]);
  assert.equal(await sweep(), 1);
  const { id: own, high } = await installation();
  assert.deepEqual(await readMarker(), { installation: own, high });
  assert.ok(high > 0);
  assert.equal(await sweep(), 0);
  await put(foreign);
  assert.equal(await sweep(), 1, "what is orphaned in the database's own store is removed");
});

test("a store with objects that a new database does not know is neither marked nor swept", async () => {
  for (const key of [uploadFileKey(unknownId()), foreign]) {
    await put(key);
    assert.equal(await sweep(), null);
    assert.notEqual(await store.head(key), null);
    assert.equal(await store.head(markKey), null);
    assert.match(lines.pop() ?? "", /unknown to this database.*Nothing is removed.*parley files adopt/);
    await store.delete(key);
  }
});

test("another database's store: nothing is removed, and the log says so at once and then hourly", async () => {
  await sweep();
  await put(foreign);
  await db.pool.query("update installation set id = $1", [randomUUID()]);
  const mark = await readMarker();
  let state = {};
  for (let round = 0; round < 3; round++)
    state = (await runJob(app, removeOrphanedFilesKind, state, { log }))?.state ?? state;
  assert.notEqual(await store.head(foreign), null);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /belong to another database.*Nothing is removed.*parley files adopt/);
  assert.deepEqual(await readMarker(), mark);
});

test("an older copy of the database removes nothing that came later", async () => {
  await sweep();
  const { high: before } = await installation();
  // The backup is made here.
  await staged();
  await sweep();
  assert.ok((await readMarker()).high > before);
  await put(foreign);
  await db.pool.query("update installation set swept_event_id = $1", [before]);
  assert.equal(await sweep(), null);
  assert.notEqual(await store.head(foreign), null);
  assert.match(lines.join(), /restored from a backup.*Nothing is removed/);
});

test("an invalid marker counts as another database's", async () => {
  for (const text of ["", "{}", "no JSON"]) {
    await store.put(markKey, Buffer.from(text));
    assert.match((await refusalToSweep(db, store)) ?? "", /another database/);
  }
});

test("two workers that mark concurrently: one writes the marker, and both use it", async () => {
  const answers = await Promise.all([refusalToSweep(db, store), refusalToSweep(db, store)]);
  assert.deepEqual(answers, [null, null]);
  const late = { ...store, get: failOnce(store.get) };
  await db.pool.query("update installation set id = $1", [randomUUID()]);
  // The marker of another database appears between the check and the write.
  assert.match((await refusalToSweep(db, late)) ?? "", /another database/);
});

/** Finds nothing the first time. */
function failOnce(get: typeof store.get): typeof store.get {
  let isFirst = true;
  return (key, ...rest) => {
    if (!isFirst) return get(key, ...rest);
    isFirst = false;
    return get("parley/nothing", ...rest);
  };
}

test("an adopted store belongs to this database, which sweeps what it does not know", async () => {
  await put(foreign);
  assert.equal(await countUnknown(db.kysely, store), 1);
  await adoptStore(db, store);
  assert.equal(await sweep(), 1);
  assert.equal(await store.head(foreign), null);
});

test("the worker sweeps only with its own marker: another database's objects stay", async () => {
  const { app: other } = await startUploads({
    env: { PARLEY_SWEEP_INTERVAL: "300ms" },
    recurring: ["remove_orphaned_files"],
  });
  await until("its own store is marked", async () => (await other.store.head(markKey)) !== null);
  let looks = 0;
  const { get } = other.store;
  Object.assign(other.store, {
    get: (...args: Parameters<typeof get>) => {
      if (args[0] === markKey) looks += 1;
      return get(...args);
    },
  });
  await other.db.pool.query("update installation set id = $1", [randomUUID()]);
  const lookedAgain = (times: number): Promise<true> => {
    const from = looks;
    return until("the worker has checked the marker again", () => looks - from >= times || undefined);
  };
  // The second check comes after the end of an allowed sweep.
  await lookedAgain(2);
  const [kept, key] = [recordingObjectKey(unknownId(), "media.mp4"), uploadFileKey(unknownId())];
  await other.store.put(kept, Buffer.from("a file"));
  await other.store.put(key, Buffer.from("a file"));
  await lookedAgain(3);
  assert.notEqual(await other.store.head(kept), null);
  assert.notEqual(await other.store.head(key), null);
  await adoptStore(other.db, other.store);
  await until("they are swept once adopted", async () => (await other.store.head(kept)) === null);
});
