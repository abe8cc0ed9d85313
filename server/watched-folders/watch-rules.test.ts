import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { startTestApp } from "../../test/support/app.ts";
import { makeWorkspace } from "../../test/support/factories.ts";
import type { Config } from "../platform/config/config.ts";
import { finishFile } from "./finish-file.ts";
import { type FileGroup, listGroups, markOf } from "./groups.ts";
import { type Claim, findGroup, importFile } from "./import-file.ts";
import { createListings } from "./listings.ts";
import { createNotice } from "./notice.ts";
import { readWatchedFolders, saveScan } from "./overview.ts";
import { openLocalPlace } from "./place/local.ts";
import { forgetUnseen, isAnyDelayed, saveSightings, type WatchedFile } from "./queries.ts";
import { readSettingsOf } from "./settings.ts";

const app = await startTestApp({ worker: false });
const { pool } = app.db;
const { id: workspace } = await makeWorkspace(app.db);
const log = pino({ level: "silent" });
const deps = { db: app.db, jobs: app.jobs, store: app.store, config: app.config, log };
const limits = { settleMs: 0, listedMs: 0 };
const recording = fileURLToPath(new URL("../../test/fixtures/media/good-faststart.mp4", import.meta.url));

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-watch-rules-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A watched folder with one recording, which is claimed in this state. */
async function claim(state: "ready" | "pending", name = "Call.mp4"): Promise<Claim & { root: string }> {
  const root = makeFolder();
  copyFileSync(recording, join(root, name));
  const place = openLocalPlace(root);
  assert.ok(await place.isMounted());
  const { groups } = await listGroups(place, "");
  const mark = markOf(groups[0] as FileGroup);
  await saveSightings(app.db.kysely, workspace, root, [{ path: name, mark, hasErrorFile: false }], limits);
  const { rows } = await pool.query<WatchedFile>(
    "update watched_files set state = $2, attempts = 1 where folder = $1 returning *",
    [root, state],
  );
  const [file] = rows;
  if (file?.path == null) throw new Error("the file was saved");
  const listings = createListings(place, 0);
  const dir = { location: root, workspaceId: workspace };
  return { root, file: { ...file, path: file.path }, dir, place, listings, notice: createNotice() };
}

async function stateOf(root: string): Promise<{ state: string; error: string | null; path: string | null }> {
  const { rows } = await pool.query("select state, error, path from watched_files where folder = $1", [root]);
  return rows[0];
}

test("a folder with many files is listed once for all of them, and changes are noticed", async () => {
  const root = makeFolder();
  const names = Array.from({ length: 50 }, (_, index) => `Call ${index}.mp4`);
  mkdirSync(join(root, "team"));
  for (const name of names) writeFileSync(join(root, "team", name), name);
  const real = openLocalPlace(root);
  let lists = 0;
  const place: typeof real = {
    ...real,
    list(folder) {
      lists += 1;
      return real.list(folder);
    },
  };
  const listings = createListings(place, 60_000);
  const checked = new Map((await listGroups(real, "team")).groups.map((group) => [group.main.name, group]));
  const find = (name: string, group = checked.get(name) as FileGroup) =>
    findGroup({ file: { path: `team/${name}`, mark: markOf(group) } as Claim["file"], listings } as Claim);
  for (const name of names) assert.equal((await find(name))?.main.name, name);
  assert.equal(lists, 1);
  await readSettingsOf(place, "team");
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
    assert.ok(await one.place.isMounted());
    rmSync(join(one.root, "Call.mp4"));
    rmSync(join(one.root, "parley.json"));
    // The folder is the same, and really empty.
    assert.ok(await one.place.isMounted());
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
  assert.match(error ?? "", /storage is full: 0 of 10000 bytes are used or reserved and the file needs/);
  const { files } = await one.place.list("");
  assert.deepEqual(files.map(({ name }) => name).sort(), ["Call.mp4", "parley.error.txt"]);
  assert.ok(await isAnyDelayed(app.db.kysely, one.root));
  const uploads = await pool.query("select 1 from uploads where workspace_id = $1 and title = 'Call'", [
    workspace,
  ]);
  assert.equal(uploads.rowCount, 0);
  await importFile(deps, one, new AbortController().signal);
  assert.deepEqual(await stateOf(one.root), { state: "pending", error: null, path: "Call.mp4" });
  assert.equal(await isAnyDelayed(app.db.kysely, one.root), false);
});
