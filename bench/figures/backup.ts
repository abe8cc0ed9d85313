import { execFile } from "node:child_process";
import { createHash, randomFillSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createBackup } from "../../server/operations/backup/create.ts";
import { openPlainFolder } from "../../server/operations/backup/folder.ts";
import { restoreBackup } from "../../server/operations/backup/restore.ts";
import { forEachConcurrent } from "../../server/platform/concurrency.ts";
import { readConfig } from "../../server/platform/config/config.ts";
import { type Database, openDatabase } from "../../server/platform/db/database.ts";
import { migrate } from "../../server/platform/db/migrate.ts";
import { recordingObjectKey } from "../../server/platform/storage/layout.ts";
import { openStore } from "../../server/platform/storage/open.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import type { Bench } from "../bench.ts";
import { dataset } from "../data/dataset.ts";
import { recreateDatabase } from "../database.ts";
import { median, takeTurns } from "../load.ts";
import { type Figure, figure, ratioFigure } from "../report.ts";
import { benchSecret } from "../servers.ts";
import { settleDisk } from "./transfer.ts";

/** Files of 50 kB, such as thumbnails and transcripts of many meetings. */
const fileBytes = 50_000;

/** Backup to a folder and restore from it: of small files against `cp` with `sync`, and of the database's rows. */
export async function measureBackup({ postgres, sizes }: Bench): Promise<Figure[]> {
  const { recordings, files } = sizes.backup;
  const data = await dataset(postgres, "parley_backup", recordings, sizes);
  // Of an earlier run on a kept database.
  await data.db.pool.query("delete from stored_files");
  const folder = mkdtempSync(join(postgres.folder, "backup-"));
  const [original, kept, other] = ["data", "kept", "other"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const store = await openStore(configOf(original));
  await addFiles(data.db, store, files);
  const megabytes = (files * fileBytes) / 2 ** 20;
  const empty = (): void => rmSync(other, { recursive: true, force: true });

  const copy = async (): Promise<number> => {
    await settleDisk();
    const startedAt = performance.now();
    await promisify(execFile)("cp", ["-r", join(original, "objects"), other]);
    await settleDisk();
    const seconds = secondsSince(startedAt);
    empty();
    return megabytes / seconds;
  };
  /** @returns megabytes of files per second, without the database. */
  const backUp = async (path: string): Promise<number> => {
    const { db, connection } = data;
    const target = await openPlainFolder(path);
    await settleDisk();
    let startedAt = 0;
    const source = { db, settings: connection, store, config: configOf(original) };
    await createBackup(source, target, ({ phase }) => {
      if (phase === "database") startedAt = performance.now();
    });
    const seconds = secondsSince(startedAt);
    await target.close();
    return megabytes / seconds;
  };
  await backUp(kept);
  const backup = await openPlainFolder(kept);
  const thousandRows: number[] = [];
  /** @returns megabytes of files per second; keeps the rate of the database. */
  const restore = async (): Promise<number> => {
    const settings = { ...data.connection, database: "parley_restored" };
    await recreateDatabase(settings);
    const config = configOf(other);
    const restored = await openStore(config, config.storage, { mayBlock: true });
    const db = openDatabase(settings, { applicationName: "parley tool", onError: () => {} });
    let [startedAt, filesAt] = [0, 0];
    const put: ObjectStore["put"] = (...args) => {
      // Its first object names the backup.
      startedAt ||= performance.now();
      return restored.put(...args);
    };
    const target = {
      db,
      settings,
      store: { ...restored, put },
      config,
      migrate: () => migrate(settings),
    };
    await settleDisk();
    const { manifest } = await restoreBackup(
      backup,
      target,
      { id: null, replace: false, acceptsMissing: false },
      ({ phase }) => {
        if (phase === "files") filesAt = performance.now();
      },
    );
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    thousandRows.push(rows / 1000 / secondsSince(filesAt));
    await db.close();
    await restored.close();
    empty();
    return megabytes / ((filesAt - startedAt) / 1000);
  };
  try {
    const backedUp = await takeTurns(sizes.rounds, copy, async () => {
      const rate = await backUp(other);
      empty();
      return rate;
    });
    const broughtBack = await takeTurns(sizes.rounds, copy, restore);
    const name = `of ${files} files of 50 kB: throughput to cp with sync`;
    const rows = median(thousandRows);
    return [
      ratioFigure(`backup ${name}`, " MB/s", backedUp, { min: 0.5 }),
      ratioFigure(`restore ${name}`, " MB/s", broughtBack, { min: 0.5 }),
      figure(
        `restore of the database of ${recordings.toLocaleString("en")} recordings`,
        rows,
        `${rows.toFixed(1)} thousand rows/s`,
        "",
        {},
      ),
    ];
  } finally {
    await backup.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const secondsSince = (startedAt: number): number => (performance.now() - startedAt) / 1000;

function configOf(dataDir: string) {
  mkdirSync(dataDir, { recursive: true });
  return readConfig({ PARLEY_DATA_DIR: dataDir, PARLEY_SECRET: benchSecret }, dataDir);
}

/** Gives recordings files that nothing can make smaller. */
async function addFiles({ pool }: Database, store: ObjectStore, count: number): Promise<void> {
  const { rows } = await pool.query<{ id: string; workspace_id: string }>(
    "select id, workspace_id from recordings order by id limit $1",
    [count],
  );
  const numbers = Array.from({ length: count }, (_, number) => number);
  await forEachConcurrent(numbers, 4, async (number) => {
    const recording = rows[number % rows.length];
    const content = randomFillSync(Buffer.alloc(fileBytes));
    const key = recordingObjectKey(recording?.id ?? "", `file-${number}`);
    await store.put(key, content);
    await pool.query(
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
