import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import type { Config } from "../../platform/config/config.ts";
import { finishFile } from "./finish-file.ts";
import { openLocalFolder } from "./folder/local.ts";
import { type FileGroup, listGroups, markOf } from "./groups.ts";
import { type Claim, findGroup, importFile } from "./import-file.ts";
import { createListings } from "./listings.ts";
import { readWatchedFolders, retryFailed, saveScan } from "./overview.ts";
import { forgetUnseen, isAnyOverQuota, quotaError, saveSightings, type WatchedFile } from "./queries.ts";
import { createSeenSettings, readSettingsOf } from "./settings.ts";
import { scanOne, watch } from "./watch.ts";

const app = await startTestApp({ worker: false });
const { pool } = app.db;
const { id: workspace } = await makeWorkspace(app.db);
const log = pino({ level: "silent" });
const deps = { db: app.db, jobs: app.jobs, store: app.store, config: app.config, log };
const limits = { settleMs: 0, listedMs: 0 };
const recording = fileURLToPath(new URL("../../../test/fixtures/media/good-faststart.mp4", import.meta.url));

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-watch-rules-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A watched folder with one recording, which is claimed in this state. */
async function claim(
  state: "ready" | "pending",
  { workspaceId = workspace } = {},
): Promise<Claim & { root: string }> {
  const name = "Call.mp4";
  const root = makeFolder();
  copyFileSync(recording, join(root, name));
  const opened = openLocalFolder(root);
  assert.ok(await opened.isMounted());
  const { groups } = await listGroups(opened, "");
  const mark = markOf(groups[0] as FileGroup);
  await saveSightings(app.db.kysely, workspaceId, root, [{ path: name, mark, hasErrorFile: false }], limits);
  await pool.query("update watched_files set state = $2 where folder = $1", [root, state]);
  const dir = { location: root, workspaceId };
  return { ...watch(dir, opened, { watchIntervalMs: 0 }), root, file: await take(root) };
}

/** Takes the file of a folder, as a worker does. */
async function take(root: string): Promise<Claim["file"]> {
  const { rows } = await pool.query<WatchedFile>(
    "update watched_files set attempts = attempts + 1 where folder = $1 returning *",
    [root],
  );
  const [file] = rows;
  if (file?.path == null) throw new Error("the file was saved");
  return { ...file, path: file.path };
}

/** The store, which takes no file. */
const brokenStore: typeof app.store = {
  ...app.store,
  put: () => Promise.reject(new Error("the network is down")),
};

async function stateOf(root: string): Promise<{ state: string; error: string | null; path: string | null }> {
  const { rows } = await pool.query("select state, error, path from watched_files where folder = $1", [root]);
  return rows[0];
}

test("a folder with many files is listed once for all of them, and changes are noticed", async () => {
  const root = makeFolder();
  const names = Array.from({ length: 50 }, (_, index) => `Call ${index}.mp4`);
  mkdirSync(join(root, "team"));
  for (const name of names) writeFileSync(join(root, "team", name), name);
  const real = openLocalFolder(root);
  let lists = 0;
  const opened: typeof real = {
    ...real,
    list(folder) {
      lists += 1;
      return real.list(folder);
    },
  };
  const listings = createListings(opened, 60_000, 1_000_000);
  const checked = new Map((await listGroups(real, "team")).groups.map((group) => [group.main.name, group]));
  const find = (name: string, group = checked.get(name) as FileGroup) =>
    findGroup({ file: { path: `team/${name}`, mark: markOf(group) } as Claim["file"], listings } as Claim);
  for (const name of names) assert.equal((await find(name))?.main.name, name);
  assert.equal(lists, 1);
  await readSettingsOf(opened, "team", createSeenSettings(0));
  assert.equal(lists, 1);
  writeFileSync(join(root, "team", "Call 7.mp4"), "another recording");
  assert.equal((await find("Call 7.mp4"))?.main.size, 17);
  writeFileSync(join(root, "team", "Call 9.vtt"), "WEBVTT");
  const { groups } = await listGroups(real, "team");
  const withText = groups.find(({ main }) => main.name === "Call 9.mp4") as FileGroup;
  assert.equal((await find("Call 9.mp4", withText))?.transcript?.name, "Call 9.vtt");
  rmSync(join(root, "team", "Call 8.mp4"));
  assert.equal(await find("Call 8.mp4"), null);
});

test("what arrives beside a file just before it is imported or removed is seen", async () => {
  const root = makeFolder();
  writeFileSync(join(root, "Call.mp4"), "recording");
  const opened = openLocalFolder(root);
  const [group] = (await listGroups(opened, "")).groups;
  const mark = markOf(group as FileGroup);
  const listings = createListings(opened, 60_000);
  assert.equal((await listings.find("", "Call.mp4", mark))?.transcript, null);
  writeFileSync(join(root, "Call.vtt"), "WEBVTT");
  await until(
    "the transcript is seen",
    async () => (await listings.find("", "Call.mp4", mark))?.transcript?.name === "Call.vtt",
    10_000,
  );
});

test("settings that are missing while they are replaced are not taken for removed ones", async () => {
  const { id: workspaceId } = await makeWorkspace(app.db);
  for (const state of ["ready", "pending"] as const) {
    const one = await claim(state, { workspaceId });
    const seenSettings = createSeenSettings(60_000);
    const run = async (claimed: Claim) => {
      if (state === "ready") await importFile(deps, claimed, new AbortController().signal);
      else await finishFile(deps, claimed);
      return (await stateOf(one.root)).state;
    };
    seenSettings.note("", true);
    // A check that comes at the same moment.
    seenSettings.note("", false);
    assert.equal(await run({ ...one, seenSettings }), "waiting");
    await pool.query("update watched_files set state = $2 where folder = $1", [one.root, state]);
    const later = createSeenSettings(0);
    later.note("", true);
    later.note("", false);
    assert.equal(await run({ ...one, seenSettings: later }), state === "ready" ? "pending" : "done");
  }
});

test("a problem of a folder is shown also if a check of all folders takes several passes", async () => {
  const root = makeFolder();
  for (const name of ["a", "b", "c"]) mkdirSync(join(root, name));
  writeFileSync(join(root, "a", "parley.json"), "{");
  const real = openLocalFolder(root);
  const many = Array.from({ length: 20_000 }, (_, index) => ({
    ...{ name: `${index}.txt`, size: 1, stamp: "1", modifiedAt: new Date(0) },
  }));
  const opened: typeof real = {
    ...real,
    list: async (folder) => (folder === "b" ? { files: many, folders: [] } : real.list(folder)),
  };
  const watched = watch({ location: root, workspaceId: workspace }, opened, { watchIntervalMs: 0 });
  const pass = () => scanOne(deps, watched, new Map(), new AbortController().signal);
  const problem = async () =>
    (await readWatchedFolders(app.db, [])).find(({ folder }) => folder === root)?.problem;
  await pass();
  assert.equal(watched.after, "b");
  await pass();
  assert.equal(watched.after, null);
  assert.match((await problem()) ?? "", /parley\.json is not valid JSON/);
  rmSync(join(root, "a"), { recursive: true });
  await pass();
  await pass();
  assert.equal(await problem(), null);
});

test("a check writes nothing about files that are known already", async () => {
  const folder = makeFolder();
  const mark = Buffer.from("same");
  const sightings = ["done", "failed", "ready", "pending"].map((path) => ({
    path,
    mark,
    hasErrorFile: false,
  }));
  await saveSightings(app.db.kysely, workspace, folder, sightings, limits);
  await pool.query("update watched_files set state = path where folder = $1", [folder]);
  const read = async () =>
    (
      await pool.query(
        "select path, xmin::text, xmax::text, ctid::text from watched_files where folder = $1 order by path",
        [folder],
      )
    ).rows;
  const before = await read();
  await saveSightings(app.db.kysely, workspace, folder, sightings, limits);
  assert.deepEqual(await read(), before);
  await saveSightings(
    app.db.kysely,
    workspace,
    folder,
    sightings.map((one) => ({ ...one, mark: Buffer.from("changed") })),
    { settleMs: -1000, listedMs: 0 },
  );
  const { rows } = await pool.query(
    "select path, state from watched_files where folder = $1 and state = 'waiting' order by path",
    [folder],
  );
  assert.deepEqual(
    rows.map(({ path }) => path),
    ["done", "failed"],
  );
});

test("the System page knows when a folder was checked, which is not written at each check", async () => {
  const folder = makeFolder();
  const read = async () => {
    const [found] = (await readWatchedFolders(app.db, [])).filter((one) => one.folder === folder);
    return found;
  };
  await saveScan(app.db.kysely, folder, null);
  const first = await read();
  assert.ok(first?.scanned_at);
  await saveScan(app.db.kysely, folder, null);
  assert.deepEqual(await read(), first);
  await saveScan(app.db.kysely, folder, "it is not readable");
  assert.equal((await read())?.problem, "it is not readable");
  await pool.query("update watched_folders set scanned_at = now() - interval '1 minute' where folder = $1", [
    folder,
  ]);
  await saveScan(app.db.kysely, folder, "it is not readable");
  assert.ok(((await read())?.scanned_at ?? 0) > first.scanned_at);
  // Removed from the settings.
  await pool.query("update watched_folders set scanned_at = now() - interval '8 days' where folder = $1", [
    folder,
  ]);
  assert.equal(await read(), undefined);
});

test("files of a volume that is not mounted are neither forgotten nor taken for finished", async () => {
  for (const state of ["ready", "pending"] as const) {
    const one = await claim(state);
    writeFileSync(join(one.root, "parley.json"), '{"source": "move"}');
    renameSync(one.root, `${one.root}-volume`);
    const run = () =>
      state === "ready" ? importFile(deps, one, new AbortController().signal) : finishFile(deps, one);
    await run();
    assert.deepEqual((await stateOf(one.root)).state, state, "missing");
    mkdirSync(one.root);
    await run();
    const waiting = await stateOf(one.root);
    assert.deepEqual([waiting.state, waiting.path], [state, "Call.mp4"]);
    assert.match(waiting.error ?? "", /mount its volume/);
    rmSync(one.root, { recursive: true });
    renameSync(`${one.root}-volume`, one.root);
    assert.ok(await one.watchedFolder.isMounted());
    rmSync(join(one.root, "Call.mp4"));
    rmSync(join(one.root, "parley.json"));
    // The folder is the same, and really empty.
    assert.ok(await one.watchedFolder.isMounted());
  }
});

test("failed files that are gone are forgotten, and those that are still there are not", async () => {
  const folder = makeFolder();
  const sighting = (path: string) => ({ path, mark: Buffer.from("same"), hasErrorFile: true });
  await saveSightings(app.db.kysely, workspace, folder, [sighting("gone"), sighting("there")], limits);
  await pool.query(
    "update watched_files set state = 'failed', seen_at = now() - interval '8 days' where folder = $1",
    [folder],
  );
  await saveSightings(app.db.kysely, workspace, folder, [sighting("there")], limits);
  await forgetUnseen(app.db.kysely, makeFolder());
  await forgetUnseen(app.db.kysely, folder);
  const { rows } = await pool.query("select path, state from watched_files where folder = $1", [folder]);
  assert.deepEqual(rows, [{ path: "there", state: "failed" }]);
});

test("a full quota delays files with one notice for all, and fails none", async () => {
  const config: Config = { ...app.config, storageBytesPerWorkspace: 10_000 };
  const one = await claim("ready");
  await importFile({ ...deps, config }, one, new AbortController().signal);
  const { state, error } = await stateOf(one.root);
  assert.equal(state, "ready", error ?? "");
  assert.match(
    error ?? "",
    /^Quota exceeded: the workspace's storage is full: 0 of 10000 bytes are used or reserved and the file needs/,
  );
  const { files } = await one.watchedFolder.list("");
  assert.deepEqual(files.map(({ name }) => name).sort(), ["Call.mp4", "parley.error.txt"]);
  const notice = String(await one.watchedFolder.readBytes("parley.error.txt", 1000));
  assert.match(
    notice,
    /The workspace's storage is full: .*\.\n\nParley tries again at least once an hour\.\n$/,
  );
  assert.ok(await isAnyOverQuota(app.db.kysely, one.root));
  const uploads = await pool.query("select 1 from uploads where workspace_id = $1 and title = 'Call'", [
    workspace,
  ]);
  assert.equal(uploads.rowCount, 0);
  await importFile(deps, one, new AbortController().signal);
  assert.deepEqual(await stateOf(one.root), { state: "pending", error: null, path: "Call.mp4" });
  assert.equal(await isAnyOverQuota(app.db.kysely, one.root), false);
});

test("the storage reserved by an attempt that failed or was killed doesn't delay the next one", async () => {
  const { id: workspaceId } = await makeWorkspace(app.db);
  const { size } = statSync(recording);
  const config: Config = { ...app.config, storageBytesPerWorkspace: size + 1000 };
  const one = await claim("ready", { workspaceId });
  const reserved = async () =>
    (
      await pool.query("select reserved_bytes::integer as bytes from uploads where workspace_id = $1", [
        workspaceId,
      ])
    ).rows;
  await importFile({ ...deps, config, store: brokenStore }, one, new AbortController().signal);
  assert.deepEqual(await stateOf(one.root), {
    state: "ready",
    error: "the network is down",
    path: "Call.mp4",
  });
  assert.deepEqual(await reserved(), [{ bytes: 0 }]);
  // As a worker leaves it that is killed while it sends the file.
  await pool.query("update uploads set reserved_bytes = $2 where workspace_id = $1", [workspaceId, size]);
  await importFile({ ...deps, config }, { ...one, file: await take(one.root) }, new AbortController().signal);
  assert.deepEqual(await stateOf(one.root), { state: "pending", error: null, path: "Call.mp4" });
  assert.deepEqual(await reserved(), [{ bytes: size }]);
});

test("waiting for a quota uses up none of the attempts after which a file fails, and they don't prolong it", async () => {
  const { id: workspaceId } = await makeWorkspace(app.db);
  const full = { ...deps, config: { ...app.config, storageBytesPerWorkspace: 10 } };
  const one = await claim("ready", { workspaceId });
  const run = async (with_: typeof deps) => {
    await importFile(with_, { ...one, file: await take(one.root) }, new AbortController().signal);
    const { rows } = await pool.query(
      "select state, attempts, extract(epoch from next_at - now())::integer as seconds from watched_files where folder = $1",
      [one.root],
    );
    return rows[0];
  };
  await pool.query("update watched_files set attempts = 50, error = $2 where folder = $1", [
    one.root,
    quotaError("the workspace's storage is full"),
  ]);
  const { state, attempts } = await run({ ...deps, store: brokenStore });
  assert.deepEqual([state, attempts], ["ready", 1]);
  await pool.query("update watched_files set attempts = 10 where folder = $1", [one.root]);
  const delayed = await run(full);
  assert.deepEqual([delayed.state, delayed.attempts], ["ready", 1]);
  assert.ok(delayed.seconds <= 60, `${delayed.seconds} s`);
  assert.equal((await run(full)).attempts, 2);
});

test("failed files are listed by when they failed, and lose their error when they are retried", async () => {
  const folder = makeFolder();
  const sightings = ["first", "second"].map((path) => ({
    path,
    mark: Buffer.from("same"),
    hasErrorFile: false,
  }));
  await saveSightings(app.db.kysely, workspace, folder, sightings, limits);
  await pool.query(
    `update watched_files set state = 'failed', error = 'It is damaged.',
       updated_at = now() - case path when 'first' then interval '2 days' else interval '1 day' end,
       seen_at = now() - case path when 'first' then interval '1 hour' else interval '1 day' end
     where folder = $1`,
    [folder],
  );
  const read = async () => {
    const [found] = (await readWatchedFolders(app.db, [folder])).filter((one) => one.folder === folder);
    return found;
  };
  assert.deepEqual(
    (await read())?.failed_files.map(({ path }) => path),
    ["second", "first"],
  );
  assert.equal((await retryFailed(app.db.kysely, folder, null)).length, 2);
  await pool.query("update watched_files set state = 'ready' where folder = $1", [folder]);
  assert.equal((await read())?.delay, null);
});
