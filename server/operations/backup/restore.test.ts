import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { startTestApp } from "../../../test/support/app.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { insertRecording } from "../../../test/support/factories.ts";
import { failureOf } from "../../../test/support/library.ts";
import { readConfig } from "../../platform/config/config.ts";
import { openDatabase } from "../../platform/db/database.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { readQuarantine } from "../../platform/db/quarantine.ts";
import { openLocalStore } from "../../platform/storage/local/local.ts";
import { recordingMediaLinks } from "../../recordings/recordings/media/media-links.ts";
import { adoptStore } from "../storage-maintenance/owner-marker.ts";
import { changeSettings } from "../system/settings/change.ts";
import { textsOf } from "../system/settings/live.ts";
import { findSettings } from "../system/settings/queries.ts";
import { createBackup } from "./create.ts";
import { BackupDamagedError, BackupError } from "./errors.ts";
import { type BackupFolder, openPlainFolder, type Part } from "./folder.ts";
import { backupsPrefix, type Manifest, readFullBackup, writeManifest } from "./manifest.ts";
import { checkRestore, type RestoreOptions, restoreBackup } from "./restore.ts";
import { readBackupState } from "./schedule.ts";

const app = await startTestApp({ worker: false });
await adoptStore(app.db, app.store);
const folder = mkdtempSync(join(tmpdir(), "parley-restore-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const { host, port, user, password, database } = app.db.pool.options;
const source = {
  db: app.db,
  store: app.store,
  config: app.config,
  settings: { host, port, user, password, database },
};

/** A recording with a media file. @returns the file's key. */
async function addRecording(content: string): Promise<string> {
  const id = await insertRecording(app.db);
  const key = `recordings/${id}/media.mp3`;
  await app.store.put(key, Buffer.from(content));
  await app.db.pool.query(
    `insert into stored_files (key, recording_id, workspace_id, bytes, sha256)
     select $1, id, workspace_id, $3, $4 from recordings where id = $2`,
    [key, id, content.length, createHash("sha256").update(content).digest()],
  );
  await app.db.pool.query(
    "insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp3', false)",
    [id],
  );
  return key;
}

const [first, second] = [await addRecording("one ".repeat(1000)), await addRecording("two ".repeat(1000))];
await app.store.put("imports/minutes.txt", Buffer.from("What was said."));

let backups = 0;
async function backUp(): Promise<BackupFolder> {
  const to = await openPlainFolder(join(folder, `backup-${++backups}`));
  after(() => to.close());
  await createBackup(source, to);
  return to;
}

/** The path of the file that a backup has of a key. */
function pathIn(from: BackupFolder, key: string): string {
  const parent = join(from.destination, "objects", key);
  return join(parent, readdirSync(parent)[0] ?? "");
}

/** A new and empty installation. */
async function createTarget() {
  const empty = await createTestDatabase("template1");
  const dataDir = mkdtempSync(join(folder, "target-"));
  const store = await openLocalStore(dataDir);
  const db = openDatabase(empty.settings, { applicationName: "parley tool", onError: () => {} });
  after(async () => {
    await db.close();
    await empty.drop();
  });
  const config = readConfig({ PARLEY_DATA_DIR: dataDir, PARLEY_DATABASE_URL: empty.url }, dataDir);
  return {
    db,
    store,
    config,
    settings: empty.settings,
    url: empty.url,
    migrate: () => migrate(empty.settings),
  };
}

type Target = Awaited<ReturnType<typeof createTarget>>;

const plain: RestoreOptions = { id: null, replace: false, acceptsMissing: false };
const accepting = { ...plain, acceptsMissing: true };

async function keysIn({ store }: Target): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list("")) if (!key.startsWith("parley/")) keys.push(key);
  return keys;
}

test("a backup with a damaged file is refused by name and restored with acceptsMissing; its recording says that its file is missing", async () => {
  const from = await backUp();
  const path = pathIn(from, first);
  const bytes = readFileSync(path);
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  rmSync(pathIn(from, "imports/minutes.txt"));
  const target = await createTarget();
  for (const attempt of [checkRestore, restoreBackup])
    await assert.rejects(
      attempt(from, target, plain),
      (error: Error) =>
        error instanceof BackupDamagedError &&
        [first, "imports/minutes.txt", "--accept-missing-files"].every((text) =>
          error.message.includes(text),
        ),
    );
  const dry = await checkRestore(from, target, accepting);
  const result = await restoreBackup(from, target, accepting);
  assert.deepEqual(dry.lost, result.lost, "the dry run says what the restore does");
  assert.deepEqual(result.lost.map(({ key }) => key).sort(), ["imports/minutes.txt", first]);
  assert.equal(result.files, 1);
  assert.match(readFileSync(result.listedIn ?? "", "utf8"), new RegExp(`^${first}: .* is damaged`, "m"));
  assert.deepEqual(await keysIn(target), [second]);
  const { rows } = await target.db.pool.query("select key from stored_files where damage = 'missing'");
  assert.deepEqual(rows, [{ key: first }]);
  const links = (key: string) =>
    recordingMediaLinks(
      { ...app, db: target.db, store: target.store },
      key.split("/")[1] ?? "",
      "00000000-0000-0000-0000-000000000000",
    );
  assert.equal((await links(first)).media, null);
  assert.notEqual((await links(second)).media, null);
});

test("a backup that lacks files is recorded as incomplete until one lacks none, and its restore lists them", async () => {
  const content = readFileSync(app.store.localPath(first) ?? "");
  await app.store.delete(first);
  const from = await backUp();
  const state = async () => {
    const { missingFiles, firstMissing } = await readBackupState(app.db);
    return { missingFiles, firstMissing };
  };
  assert.deepEqual(await state(), { missingFiles: 1, firstMissing: [first] });
  const target = await createTarget();
  const { lost, files } = await restoreBackup(from, target, plain);
  assert.deepEqual(lost, [{ key: first, problem: `${first} was missing when it was to be backed up` }]);
  assert.equal(files, 2);
  await app.store.put(first, content);
  await createBackup(source, from);
  assert.deepEqual(await state(), { missingFiles: 0, firstMissing: [] });
});

test("settings of the app are restored, into quarantine; a backup has their secrets only encrypted", async () => {
  const key = "sk-of-a-model-server";
  const settings = { PARLEY_LLM_URL: "https://models.example/v1", PARLEY_LLM_API_KEY: key };
  await changeSettings(app, settings, { userId: null, actor: null, host: null });
  const from = await backUp();
  const files = readdirSync(from.destination, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
    .map((bytes) => (bytes.readUInt32LE() === 0xfd2fb528 ? zstdDecompressSync(bytes) : bytes));
  assert.ok(files.some((bytes) => bytes.includes("https://models.example/v1")));
  assert.ok(files.every((bytes) => !bytes.includes(key)));
  const target = await createTarget();
  await restoreBackup(from, target, plain);
  const restored = textsOf(await findSettings(target.db.kysely), app.encryptor);
  assert.deepEqual(restored, settings);
  assert.notEqual(await readQuarantine(target.db), null);
});

test("the restore of another backup begins again after one that stopped at a damaged file", async () => {
  const from = await backUp();
  rmSync(pathIn(from, first));
  const target = await createTarget();
  await assert.rejects(restoreBackup(from, target, plain), BackupDamagedError);
  assert.ok((await keysIn(target)).includes(second));
  await target.store.put("recordings/00000000-0000-7000-8000-000000000000/media.mp3", Buffer.from("left"));
  // The next backup copies the missing file again.
  await createBackup(source, from);
  await checkRestore(from, target, plain);
  const { lost } = await restoreBackup(from, target, plain);
  assert.deepEqual(lost, []);
  assert.deepEqual(await keysIn(target), ["imports/minutes.txt", ...[first, second].sort()]);
});

test("a store that belongs to an installation is not emptied for what an interrupted restore has left in it", async () => {
  const from = await backUp();
  const target = await createTarget();
  await target.store.put("parley/restoring", Buffer.from("2020-01-01T000000Z"));
  await target.store.put("parley/database", Buffer.from("{}"));
  await target.store.put("imports/kept.txt", Buffer.from("kept"));
  for (const attempt of [checkRestore, restoreBackup])
    await assert.rejects(
      attempt(from, target, plain),
      /the configured file store is not empty: it has imports\/kept\.txt/,
    );
  assert.deepEqual(await keysIn(target), ["imports/kept.txt"]);
});

test("a restore that replaces an installation keeps its intact file where the backup's is damaged, and removes any other", async () => {
  const from = await backUp();
  const target = await createTarget();
  await restoreBackup(from, target, plain);
  for (const key of [first, second]) writeFileSync(pathIn(from, key), "x");
  await target.store.put(second, Buffer.from("other"));
  const { lost } = await restoreBackup(from, target, { ...accepting, replace: true });
  assert.deepEqual(
    lost.map(({ key }) => key),
    [second],
  );
  assert.deepEqual(await keysIn(target), ["imports/minutes.txt", first]);
});

test("a file that the store can't return for a moment stops the restore, and is not taken for damaged", async () => {
  const from = await backUp();
  const target = await createTarget();
  const broken = Object.assign(new Error("the connection was reset"), { code: "ECONNRESET" });
  const flaky: BackupFolder = {
    ...from,
    readSmall: (part) => Promise.reject(new BackupDamagedError(`${part.name} ended early`)),
    store: { ...from.store, get: () => Promise.reject(broken) },
  };
  await assert.rejects(restoreBackup(flaky, target, accepting), broken);
});

test("a database with tables of others is refused before anything is copied, by the dry run too", async () => {
  const from = await backUp();
  const target = await createTarget();
  await target.db.pool.query("create table orders (id integer)");
  for (const attempt of [checkRestore, restoreBackup])
    await assert.rejects(
      attempt(from, target, plain),
      (error: Error) =>
        error instanceof BackupError && /tables that are not Parley's: orders/.test(error.message),
    );
  assert.deepEqual(await keysIn(target), []);
});

/** Writes a part of a backup again, with a digest that is right for the new content. */
async function rewrite(from: BackupFolder, part: Part, content: string): Promise<Part> {
  const name = `${part.name.replace(/\.zst$/, "")}-harmed`;
  return from.write(name, Readable.from([Buffer.from(content)]), { compress: part.name.endsWith(".zst") });
}

async function replaceManifest(from: BackupFolder, manifest: object): Promise<void> {
  const parent = join(
    from.destination,
    backupsPrefix,
    readdirSync(join(from.destination, backupsPrefix))[0] ?? "",
  );
  for (const name of readdirSync(parent)) if (name.startsWith("manifest.")) rmSync(join(parent, name));
  await writeManifest(from, manifest as Manifest);
}

const malformed: readonly (readonly [
  string,
  (from: BackupFolder, manifest: Manifest) => Promise<unknown>,
  RegExp,
])[] = [
  [
    "a manifest without tables",
    (from, { tables: _, ...rest }) => replaceManifest(from, rest),
    /manifest\..* is damaged: tables: /,
  ],
  [
    "a sequence with a position that is no number",
    (from, manifest) => replaceManifest(from, { ...manifest, sequences: [{ name: "x", value: "many" }] }),
    /manifest\..* is damaged: sequences\.0\.value: /,
  ],
  [
    "a part outside the folder",
    (from, manifest) =>
      replaceManifest(from, { ...manifest, secret: { ...manifest.secret, name: "../secret" } }),
    /manifest\..* is damaged: secret\.name: /,
  ],
  [
    "a sequence that the schema does not have",
    (from, manifest) => replaceManifest(from, { ...manifest, sequences: [{ name: "nothing", value: "1" }] }),
    /the sequence nothing can't be loaded: relation/,
  ],
  ...(["not JSON\n", '{"key":"../../etc/passwd"}\n', "[]\n", "x".repeat(300_000)] as const).map(
    (content) =>
      [
        `a list of files that begins with ${JSON.stringify(content.slice(0, 30))}`,
        async (from: BackupFolder, manifest: Manifest) =>
          replaceManifest(from, {
            ...manifest,
            objects: { ...manifest.objects, part: await rewrite(from, manifest.objects.part, content) },
          }),
        /objects\.jsonl-harmed\.zst is damaged: /,
      ] as const,
  ),
  ...(
    [
      ["a row that does not fit", "1\n", /the rows of the table workspaces can't be loaded: invalid input/],
      ["no rows, to which others refer", "", /the keys between its tables can't be loaded: .*workspaces/],
    ] as const
  ).map(
    ([what, content, message]) =>
      [
        `a table with ${what}`,
        async (from: BackupFolder, manifest: Manifest) => {
          const tables = [];
          for (const table of manifest.tables)
            tables.push(
              table.name === "workspaces"
                ? { ...table, part: await rewrite(from, table.part, content) }
                : table,
            );
          return replaceManifest(from, { ...manifest, tables });
        },
        message,
      ] as const,
  ),
];

test("a malformed backup is refused in one line that names the part, and the database stays empty", async () => {
  const target = await createTarget();
  const from = await backUp();
  const manifest = await readFullBackup(from, null);
  for (const [what, harm, message] of malformed) {
    await harm(from, manifest);
    await assert.rejects(
      restoreBackup(from, target, plain),
      (error: Error) =>
        error instanceof BackupDamagedError && message.test(error.message) && !error.message.includes("\n"),
      what,
    );
    const { rows } = await target.db.pool.query("select to_regclass('recordings') as name");
    assert.deepEqual(rows, [{ name: null }], what);
  }
  const parent = join(from.destination, backupsPrefix, manifest.id);
  const name = readdirSync(parent).find((each) => each.startsWith("manifest.")) ?? "";
  const sha256 = createHash("sha256").update("{").digest("hex");
  writeFileSync(join(parent, name), "{");
  renameSync(join(parent, name), join(parent, `manifest.${sha256}.json`));
  await assert.rejects(checkRestore(from, target, plain), /manifest\..* is damaged: it is not valid JSON/);
});

test("parley restore --dry-run creates no database and no folder, and exits like the restore: 1 for missing files, 3 if they are accepted", async () => {
  const from = await backUp();
  const dataDir = join(folder, "not-there");
  const run = (env: Record<string, string>, ...args: string[]) =>
    failureOf(
      { env: { PARLEY_DATABASE_URL: "", PARLEY_DATA_DIR: dataDir, ...env } },
      "restore",
      from.destination,
      ...args,
    ).then(({ code, stderr }) => ({ code, stderr }));
  rmSync(pathIn(from, first));
  const refused = await run({}, "--dry-run");
  assert.equal(refused.code, 1, refused.stderr);
  const dry = await run({}, "--dry-run", "--accept-missing-files");
  assert.equal(dry.code, 3, dry.stderr);
  assert.match(dry.stderr, new RegExp(`${first}.* is missing`));
  assert.ok(!existsSync(dataDir));
  const target = await createTarget();
  const real = await run({ PARLEY_DATABASE_URL: target.url }, "--accept-missing-files");
  assert.equal(real.code, 3, real.stderr);
  assert.match(
    real.stderr,
    /1 file missing or damaged in the restored installation; the list is in .*not-there/,
  );
  assert.equal(statSync(join(dataDir, "objects", second)).size, 4000);
});
