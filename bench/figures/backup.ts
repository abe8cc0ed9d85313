import { execFile } from "node:child_process";
import { createHash, randomFillSync } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import {
  type BackupProgress,
  type BackupResult,
  createBackup,
} from "../../server/operations/backup/create.ts";
import { type BackupFolder, openPlainFolder } from "../../server/operations/backup/folder.ts";
import type { Manifest } from "../../server/operations/backup/manifest.ts";
import { restoreBackup } from "../../server/operations/backup/restore.ts";
import { forEachConcurrent } from "../../server/platform/concurrency.ts";
import { readConfig } from "../../server/platform/config/config.ts";
import { openDatabase } from "../../server/platform/db/database.ts";
import { migrate } from "../../server/platform/db/migrate.ts";
import { recordingObjectKey } from "../../server/platform/storage/layout.ts";
import { openStore } from "../../server/platform/storage/open.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { type BenchDatabase, type BenchPostgres, recreateDatabase } from "../database.ts";
import { type Dataset, dataset } from "../datasets.ts";
import { takeTurns } from "../load.ts";
import { type Figure, figure, ratioFigure } from "../report.ts";
import { benchSecret } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import { settleDisk } from "../transfer.ts";

const run = promisify(execFile);

/** The bench's parts that all figures need. */
interface Bench {
  readonly folder: string;
  readonly data: BenchDatabase<Dataset>;
  readonly store: ObjectStore;
  readonly sizes: Sizes;
}

/** Backup to a folder against `cp`, restore against COPY alone, and what a second backup copies. */
export async function measureBackup(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  const { recordings } = sizes.backup;
  const name = recordings === sizes.smallRecordings ? "parley_small" : "parley_backup";
  const data = await dataset(postgres, name, recordings, sizes);
  // Of an earlier run on a kept database.
  await data.db.pool.query("delete from stored_files");
  const folder = mkdtempSync(join(postgres.folder, "backup-"));
  const store = await openStore(configOf(join(folder, "data")));
  const bench: Bench = { folder, data, store, sizes };
  try {
    return [
      ...(await measureRestore(bench)),
      ...(await measureSmallFiles(bench)),
      ...(await measureFiles(bench)),
    ];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function configOf(dataDir: string) {
  mkdirSync(dataDir, { recursive: true });
  return readConfig({ PARLEY_DATA_DIR: dataDir, PARLEY_SECRET: benchSecret }, dataDir);
}

function backUp(
  { folder, data, store }: Bench,
  target: BackupFolder,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<BackupResult> {
  const { db, connection } = data;
  const source = { db, settings: connection, store, config: configOf(join(folder, "data")) };
  return createBackup(source, target, onProgress);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  await settleDisk();
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

/** The database alone: a restore also decompresses, builds indexes and checks all keys. */
async function measureRestore(bench: Bench): Promise<Figure[]> {
  const { folder, data, sizes } = bench;
  const source = await openPlainFolder(join(folder, "tables"));
  const { manifest } = await backUp(bench, source);
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0) / 1000;
  const plain = join(folder, "plain");
  mkdirSync(plain);
  for (const { name, part } of manifest.tables)
    await pipeline(await source.read(part), createWriteStream(join(plain, name)));
  const copied = { ...data.connection, database: "parley_copied" };
  const migrated = async (): Promise<void> => {
    await recreateDatabase(copied);
    await migrate(copied);
  };
  await migrated();
  const restored = { ...data.connection, database: "parley_restored" };
  let round = 0;
  const restore = async (): Promise<number> => {
    await recreateDatabase(restored);
    const config = configOf(join(folder, `restored-${++round}`));
    const store = await openStore(config, config.storage, { mayBlock: true });
    const db = openDatabase(restored, { applicationName: "parley tool", onError: () => {} });
    const target = { db, settings: restored, store, config, migrate: () => migrate(restored) };
    const options = { id: null, replace: false, acceptsMissing: false };
    const seconds = await timed(() => restoreBackup(source, target, options));
    await db.close();
    await store.close();
    return rows / seconds;
  };
  const alone = await takeTurns(
    sizes.rounds,
    async () => rows / (await timed(() => copyAlone(copied, manifest, plain))),
    restore,
  );
  const whole = await takeTurns(
    1,
    async () => {
      await migrated();
      return rows / (await timed(() => copyIntoTables(copied, manifest, plain)));
    },
    restore,
  );
  await source.close();
  const name = `restore of ${manifest.tables.length} tables: thousand rows/s to COPY`;
  return [
    ratioFigure(`${name} alone`, "", alone, { min: 0.5 }),
    ratioFigure(`${name} into the tables with their indexes`, "", whole, {}),
  ];
}

/** Loads the rows into tables without indexes, keys and triggers, in one transaction. */
function copyAlone(connection: pg.ClientConfig, manifest: Manifest, plain: string): Promise<void> {
  return copyAll(connection, manifest, plain, async (client) => {
    await client.query("drop schema if exists bare cascade; create schema bare");
    return async (table) => {
      await client.query(`create table bare.${table} as table ${table} with no data`);
      return `bare.${table}`;
    };
  });
}

/** Loads the rows into the tables of a migrated database, which have their indexes, without triggers and foreign keys. */
function copyIntoTables(connection: pg.ClientConfig, manifest: Manifest, plain: string): Promise<void> {
  return copyAll(connection, manifest, plain, async (client) => {
    await client.query("set local session_replication_role = replica");
    const tables = manifest.tables.map(({ name }) => name).filter((name) => !name.includes("."));
    await client.query(`truncate ${tables.map(pg.escapeIdentifier).join(", ")} cascade`);
    return async (table) => table;
  });
}

/** Copies tables in one transaction. @param begin prepares it, and returns what prepares a table and gives its name. */
async function copyAll(
  connection: pg.ClientConfig,
  manifest: Manifest,
  plain: string,
  begin: (client: pg.Client) => Promise<(table: string) => Promise<string>>,
): Promise<void> {
  const client = new pg.Client(connection);
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("begin");
    const prepare = await begin(client);
    for (const { name, columns } of manifest.tables) {
      // The job queue's table, which is empty, is not among those of the schema.
      if (name.includes(".")) continue;
      const table = await prepare(pg.escapeIdentifier(name));
      const list = columns.map(pg.escapeIdentifier).join(", ");
      const copy = client.query(copyFrom(`copy ${table} (${list}) from stdin (freeze)`));
      await pipeline(createReadStream(join(plain, name)), copy);
    }
    await client.query("commit");
  } finally {
    await client.end();
  }
}

/** Files of 50 kB, such as thumbnails and transcripts of many meetings: the files alone, without the database. */
const smallFileBytes = 50_000;

/** Ends a restore whose files have been measured. */
class FilesRestored extends Error {}

async function measureSmallFiles(bench: Bench): Promise<Figure[]> {
  const { folder, data, store, sizes } = bench;
  const { smallFiles } = sizes.backup;
  await addFiles(bench, "small", smallFiles, smallFileBytes);
  const megabytes = (smallFiles * smallFileBytes) / 2 ** 20;
  const other = join(folder, "small-other");
  const empty = (): void => rmSync(other, { recursive: true, force: true });
  const copyWithSync = async (): Promise<number> => {
    const seconds = await timed(async () => {
      await run("cp", ["-r", join(folder, "data", "objects"), other]);
      await settleDisk();
    });
    empty();
    return megabytes / seconds;
  };
  const backup = async (): Promise<number> => {
    await settleDisk();
    const target = await openPlainFolder(other);
    let startedAt = 0;
    await backUp(bench, target, ({ phase }) => {
      if (phase === "database") startedAt = performance.now();
    });
    const seconds = (performance.now() - startedAt) / 1000;
    await target.close();
    empty();
    return megabytes / seconds;
  };
  const source = await openPlainFolder(join(folder, "small"));
  await backUp(bench, source);
  const restored = { ...data.connection, database: "parley_restored" };
  const restore = async (): Promise<number> => {
    await recreateDatabase(restored);
    const config = configOf(other);
    const opened = await openStore(config, config.storage, { mayBlock: true });
    const db = openDatabase(restored, { applicationName: "parley tool", onError: () => {} });
    let [startedAt, endedAt] = [0, 0];
    const target = {
      db,
      settings: restored,
      // Its first object names the backup.
      store: {
        ...opened,
        put: (...args: Parameters<ObjectStore["put"]>) => {
          startedAt ||= performance.now();
          return opened.put(...args);
        },
      },
      config,
      migrate: () => migrate(restored),
    };
    await settleDisk();
    await restoreBackup(source, target, { id: null, replace: false, acceptsMissing: false }, ({ phase }) => {
      if (phase === "database") throw new FilesRestored();
      endedAt = performance.now();
    }).catch((error: unknown) => {
      if (!(error instanceof FilesRestored)) throw error;
    });
    await db.close();
    await opened.close();
    empty();
    return megabytes / ((endedAt - startedAt) / 1000);
  };
  const backedUp = await takeTurns(sizes.rounds, copyWithSync, backup);
  const broughtBack = await takeTurns(sizes.rounds, copyWithSync, restore);
  await source.close();
  await data.db.pool.query("delete from stored_files");
  for await (const { key } of store.list("recordings/")) await store.delete(key);
  return [
    ratioFigure(`backup of ${smallFiles} files of 50 kB: throughput to cp with sync`, " MB/s", backedUp, {
      min: 0.5,
    }),
    ratioFigure(`restore of ${smallFiles} files of 50 kB: throughput to cp with sync`, " MB/s", broughtBack, {
      min: 0.5,
    }),
  ];
}

async function measureFiles(bench: Bench): Promise<Figure[]> {
  const { folder, sizes } = bench;
  const { files, fileBytes } = sizes.backup;
  await addFiles(bench, "first", files, fileBytes);
  const kept = await openPlainFolder(join(folder, "kept"));
  const { bytes } = await backUp(bench, kept);
  const megabytes = bytes / 2 ** 20;
  const other = join(folder, "other");
  const fresh = async (work: () => Promise<unknown>): Promise<number> => {
    const seconds = await timed(work);
    rmSync(other, { recursive: true, force: true });
    return megabytes / seconds;
  };
  const compared = await takeTurns(
    sizes.rounds,
    () => fresh(() => run("cp", ["-r", join(folder, "kept"), other])),
    () =>
      fresh(async () => {
        const target = await openPlainFolder(other);
        await backUp(bench, target);
        await target.close();
      }),
  );
  const added = Math.ceil(files / 100);
  await addFiles(bench, "second", added, fileBytes);
  const startedAt = performance.now();
  const second = await backUp(bench, kept);
  const seconds = (performance.now() - startedAt) / 1000;
  await kept.close();
  const tables = second.manifest.tables.reduce((sum, { part }) => sum + part.bytes, 0);
  const isOnlyNew = (second.copiedBytes - tables) / (added * fileBytes);
  return [
    ratioFigure(
      `backup of ${files} files to a folder: throughput to cp of the same bytes`,
      " MB/s",
      compared,
      {
        min: 0.6,
      },
    ),
    figure(
      `second backup, ${added} of ${files + added} files new: bytes of files copied to bytes that are new`,
      isOnlyNew,
      `${isOnlyNew.toFixed(2)} in ${seconds.toFixed(1)} s`,
      "",
      { min: 1, max: 1 },
    ),
  ];
}

/** Gives recordings files that nothing can make smaller. */
async function addFiles(
  { data, store }: Bench,
  name: string,
  count: number,
  fileBytes: number,
): Promise<void> {
  const { rows } = await data.db.pool.query<{ id: string; workspace_id: string }>(
    "select id, workspace_id from recordings order by id limit $1",
    [count],
  );
  const numbers = Array.from({ length: count }, (_, number) => number);
  await forEachConcurrent(numbers, 4, async (number) => {
    const recording = rows[number % rows.length];
    const content = randomFillSync(Buffer.alloc(fileBytes));
    const key = recordingObjectKey(recording?.id ?? "", `${name}-${number}`);
    await store.put(key, content);
    await data.db.pool.query(
      "insert into stored_files (key, recording_id, workspace_id, bytes, sha256) values ($1, $2, $3, $4, $5)",
      [
        key,
        recording?.id,
        recording?.workspace_id,
        content.length,
        createHash("sha256").update(content).digest(),
      ],
    );
  });
}
