import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pino } from "pino";
import { startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { checkFiles, partsOf } from "./check.ts";
import { createBackup } from "./create.ts";
import { BackupDamagedError } from "./errors.ts";
import { type BackupFolder, ContentDiffersError, openBackupFolder, type Part } from "./folder.ts";
import {
  type BackedUpObject,
  checkOwner,
  type Manifest,
  readDamaged,
  readFullBackup,
  readObjects,
} from "./manifest.ts";
import { verifyBackup } from "./verify.ts";

const app = await startTestApp({ worker: false });
await makeWorkspace(app.db);
await app.store.put("imports/minutes.txt", Buffer.alloc(100_000, "What was said. "));
const folder = mkdtempSync(join(tmpdir(), "parley-check-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const encrypted = new Map<string, BackupFolder>();

/** Opens a folder; an encrypted one once, since its key takes half a second of processor time. */
async function openFolder(name: string, passphrase: string | null): Promise<BackupFolder> {
  const known = encrypted.get(name);
  if (known !== undefined) return known;
  const config = { ...app.config, backup: { ...app.config.backup, passphrase } };
  const opened = await openBackupFolder(join(folder, name), config, "write");
  after(() => opened.close());
  if (passphrase !== null) encrypted.set(name, opened);
  return opened;
}

/** Backs up to a folder. */
async function backUp(name: string, passphrase: string | null): Promise<BackupFolder> {
  const { db, store } = app;
  const { host, port, user, password, database } = db.pool.options;
  const config = { ...app.config, backup: { ...app.config.backup, passphrase } };
  const to = await openFolder(name, passphrase);
  await createBackup({ db, store, settings: { host, port, user, password, database }, config }, to);
  return to;
}

/** Some first bytes, the one in the middle, and as many last ones. */
function positionsIn(size: number, length: number): number[] {
  const ends = Array.from({ length }, (_, index) => [index, size - 1 - index]).flat();
  return [...new Set([...ends, Math.floor(size / 2)])].filter((at) => at >= 0 && at < size);
}

/** Reads one file of a backup, as verify and restore do. */
async function check(from: BackupFolder, manifest: Manifest, name: string, part?: Part): Promise<void> {
  if (part !== undefined) await from.check(part);
  else if (name === "installation") await checkOwner(from, manifest);
  else await readFullBackup(from, null);
}

for (const [kind, passphrase] of [
  ["plain", null],
  ["encrypted", "an ordinary passphrase"],
] as const)
  test(`a flipped bit at either end or in the middle of any file of a backup is found: ${kind}`, async () => {
    const from = await backUp(kind, passphrase);
    const manifest = await readFullBackup(from, null);
    assert.deepEqual(await checkFiles(from, manifest, () => {}), { problems: [], objects: [] });
    const names = readdirSync(from.destination, { recursive: true, encoding: "utf8" }).filter(
      // The passphrase decrypts this one, or doesn't.
      (name) => statSync(join(from.destination, name)).isFile() && name !== "identity.age",
    );
    assert.ok(names.length > 80);
    const parts = new Map<string, Part>(partsOf(manifest).map((part) => [part.name, part]));
    for await (const object of readObjects(from, manifest)) parts.set(object.name, object);
    const sizes = new Set<number>();
    for (const name of names) {
      const path = join(from.destination, name);
      const bytes = readFileSync(path);
      // Files of one size, as of the many empty tables, are built alike: one byte at either end is enough in the others.
      const length = sizes.has(bytes.length) ? 1 : 10;
      sizes.add(bytes.length);
      for (const at of positionsIn(bytes.length, length)) {
        const damaged = Buffer.from(bytes);
        damaged[at] = (bytes[at] ?? 0) ^ 0x20;
        writeFileSync(path, damaged);
        await assert.rejects(
          check(from, manifest, name, parts.get(name)),
          (error) => error instanceof BackupDamagedError && error.message.startsWith(name),
          `byte ${at} of ${name}`,
        );
      }
      writeFileSync(path, bytes);
    }
    assert.deepEqual((await checkFiles(from, manifest, () => {})).problems, []);
  });

test("a backup without digests of its compressed files, from an earlier version, is read as before", async () => {
  const from = await backUp("earlier", null);
  const manifest = await readFullBackup(from, null);
  const tables = manifest.tables.map((table) => ({ ...table, part: { ...table.part, stored: undefined } }));
  const part = { ...manifest.objects.part, stored: undefined };
  const earlier = { ...manifest, tables, objects: { ...manifest.objects, part } };
  assert.deepEqual((await checkFiles(from, earlier, () => {})).problems, []);
});

for (const [kind, passphrase] of [
  ["plain", null],
  ["encrypted", "an ordinary passphrase"],
] as const)
  test(`the next backup copies a damaged file again: of another size at once, else after a verification: ${kind}`, async () => {
    const from = await backUp(`repaired-${kind}`, passphrase);
    const manifest = await readFullBackup(from, null);
    let [object] = [] as BackedUpObject[];
    for await (const each of readObjects(from, manifest)) object = each;
    assert.ok(object);
    const path = join(from.destination, object.name);
    const bytes = readFileSync(path);
    assert.equal(bytes.length, from.storedSize(object.bytes));
    const isIntact = async (): Promise<boolean> => {
      const newest = await readFullBackup(from, null);
      return (await checkFiles(from, newest, () => {})).problems.length === 0;
    };

    writeFileSync(path, bytes.subarray(0, 1000));
    await backUp(`repaired-${kind}`, passphrase);
    assert.ok(await isIntact());

    const flipped = readFileSync(path);
    flipped[500] = (flipped[500] ?? 0) ^ 1;
    writeFileSync(path, flipped);
    const { problems } = await verifyBackup(from, null, app.config.dataDir, pino({ level: "silent" }));
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? "", new RegExp(object.name));
    await backUp(`repaired-${kind}`, passphrase);
    assert.ok(await isIntact());
    assert.deepEqual(await readDamaged(from), new Set());
  });

test("a backup does not depend on a damaged manifest or list of an earlier one", async () => {
  const from = await backUp("independent", null);
  const damage = (pattern: RegExp): void => {
    const names = readdirSync(from.destination, { recursive: true, encoding: "utf8" }).sort();
    const name = names.findLast((each) => pattern.test(each));
    writeFileSync(join(from.destination, name ?? ""), "{}");
  };
  damage(/objects\.jsonl/);
  await backUp("independent", null);
  damage(/manifest\./);
  await backUp("independent", null);
  assert.deepEqual((await checkFiles(from, await readFullBackup(from, null), () => {})).problems, []);
});

for (const [kind, passphrase] of [
  ["plain", null],
  ["encrypted", "an ordinary passphrase"],
] as const)
  test(`a small file that is written at once is read like a streamed one, and has the size that is expected: ${kind}`, async () => {
    const to = await openFolder(kind, passphrase);
    for (const size of [0, 1, 65_535, 65_536, 65_537, 131_072]) {
      const content = Buffer.alloc(size, "What was said. ");
      const part = await to.write(`objects/${size}`, content);
      assert.equal((await to.store.head(part.name))?.size, to.storedSize(size), `${size} bytes`);
      assert.ok((await to.readSmall(part)).equals(content));
      assert.ok(Buffer.concat(await (await to.read(part)).toArray()).equals(content));
    }
    const expected = { bytes: 1, sha256: "0".repeat(64) };
    await assert.rejects(to.write("objects/other", Buffer.from("x"), { expected }), ContentDiffersError);
  });
