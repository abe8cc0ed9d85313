import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, test } from "node:test";
import { acceptSecret, openSecrets, WrongSecretError } from "../../platform/crypto/secret.ts";
import { uploadFileKey } from "../../platform/storage/layout.ts";
import { startUploads } from "../../processing/uploads/test/uploads.ts";
import { adoptStore, markKey, verifyStore, WrongStoreError } from "./owner-marker.ts";

const { app, create } = await startUploads({ worker: false });
const { db, store } = app;

async function readMarker(): Promise<{ installation: string; high: number; store: string }> {
  const { body } = await store.get(markKey);
  return JSON.parse(Buffer.concat(await body.toArray()).toString());
}

async function storeId(): Promise<string | null> {
  const { rows } = await db.pool.query("select store_id from installation");
  return rows[0].store_id;
}

/** An upload whose file must be in the store. */
async function knowFile(): Promise<string> {
  const { id } = (await create({ media_type: "video" })).body;
  await store.put(uploadFileKey(id), Buffer.from("a file"));
  await db.pool.query("update uploads set status = 'processing' where id = $1", [id]);
  return id;
}

beforeEach(async () => {
  await db.pool.query("update uploads set status = 'failure'");
  await db.pool.query("update installation set store_id = null");
  await store.delete(markKey);
});

test("an empty store of a fresh database is claimed, by one of several processes that start at once", async () => {
  await Promise.all([1, 2, 3, 4].map(() => verifyStore(db, store)));
  const { store: id } = await readMarker();
  assert.equal(await storeId(), id);
  await verifyStore(db, store);
  assert.equal((await readMarker()).store, id);
});

test("an unmarked store is refused when the database knows files, and stays as it is", async () => {
  const id = await knowFile();
  await store.delete(uploadFileKey(id));
  await assert.rejects(
    verifyStore(db, store),
    (error) =>
      error instanceof WrongStoreError &&
      /refers to files.*PARLEY_DATA_DIR.*PARLEY_S3_.*parley files adopt/.test(error.message) &&
      !error.message.includes("\n"),
  );
  assert.equal(await store.head(markKey), null);
  await adoptStore(db, store);
  await verifyStore(db, store);
});

test("an unmarked store does not take the place of the database's own, also before there are files", async () => {
  await verifyStore(db, store);
  const own = await readMarker();
  await store.delete(markKey);
  await assert.rejects(verifyStore(db, store), /was used with another file store.*PARLEY_DATA_DIR.*adopt/);
  assert.equal(await store.head(markKey), null);
  await store.put(markKey, Buffer.from(JSON.stringify(own)));
  await verifyStore(db, store);
});

test("a new database refuses an unmarked store with files, instead of being locked out of it later", async () => {
  const key = uploadFileKey(randomUUID());
  await store.put(key, Buffer.from("a file"));
  await assert.rejects(
    verifyStore(db, store),
    /has files that are unknown to this database.*parley files adopt/,
  );
  assert.equal(await store.head(markKey), null);
  await store.delete(key);
  await verifyStore(db, store);
});

test("another database's store is refused, and one that was copied before this one was adopted", async () => {
  await verifyStore(db, store);
  const mark = await readMarker();
  await store.put(markKey, Buffer.from(JSON.stringify({ ...mark, installation: randomUUID() })));
  await assert.rejects(verifyStore(db, store), /belongs to another database.*PARLEY_DATABASE_URL/);
  await store.put(markKey, Buffer.from(JSON.stringify({ ...mark, store: randomUUID() })));
  await assert.rejects(verifyStore(db, store), /different copy/);
  await adoptStore(db, store);
  await verifyStore(db, store);
  assert.notEqual(await storeId(), mark.store);
});

test("a store marked by an earlier version gets an id, and the database remembers it", async () => {
  await verifyStore(db, store);
  const { installation, high } = await readMarker();
  await store.put(markKey, Buffer.from(JSON.stringify({ installation, high })));
  await db.pool.query("update installation set store_id = null");
  await knowFile();
  await verifyStore(db, store);
  assert.equal((await readMarker()).store, await storeId());
});

test("another secret than the one the database was used with is refused until it is accepted", async () => {
  const textOf = async (set: string | null) => (await openSecrets(set, store, db)).secrets[0].text;
  const secret = await textOf(null);
  assert.equal(await textOf(secret), secret);
  const other = "another secret of at least 32 characters";
  await assert.rejects(
    openSecrets(other, store, db),
    (error) =>
      error instanceof WrongSecretError &&
      /PARLEY_SECRET is not the one.*parley secrets accept/.test(error.message) &&
      !error.message.includes(other),
  );
  await store.delete("parley/secret");
  await assert.rejects(openSecrets(null, store, db), /secret is missing from the file store.*PARLEY_SECRET/);
  assert.equal(await store.head("parley/secret"), null, "no new secret is created beside encrypted data");
  await acceptSecret(other, store, db);
  assert.equal(await textOf(other), other);
});
