import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyBaseLogger } from "fastify";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { verifyChain } from "../../governance/audit/verify.ts";
import { type ConnectionSettings, type Database, openDatabase } from "../../platform/db/database.ts";
import { startEmbeddedPostgres, throwawayTuning } from "../../platform/db/embedded/index.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { checkFiles } from "./check.ts";
import type { BackupProgress } from "./create.ts";
import type { BackupFolder } from "./folder.ts";
import { loadDatabase } from "./load.ts";
import { type Manifest, noteDamaged, readFullBackup, readObjects } from "./manifest.ts";
import { sweepVerifyFolders, withVerifyFolder } from "./verify-folder.ts";

/** What a verification found. */
export interface VerifyResult {
  readonly manifest: Manifest;
  /** One line for each problem, with the name of the part; empty: the backup can be restored. */
  readonly problems: readonly string[];
}

/**
 * Proves that a backup can be restored: reads every file and compares its digest, restores the database into a throwaway
 * PostgreSQL, migrates it, and checks the number of rows, the audit log and that every file it names is there.
 * @param dataDir the data folder, in which the temporary database is.
 */
export async function verifyBackup(
  folder: BackupFolder,
  id: string | null,
  dataDir: string,
  log: FastifyBaseLogger,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<VerifyResult> {
  await sweepVerifyFolders(dataDir, log);
  const manifest = await readFullBackup(folder, id);
  const { problems, objects } = await checkFiles(folder, manifest, onProgress);
  if (objects.length > 0)
    await noteDamaged(
      folder,
      objects.map(({ name }) => name),
    ).catch((error: Error) =>
      log.error(
        { err: error },
        "could not note the damaged files for the next backup; verify again before it",
      ),
    );
  if (problems.length > 0) return { manifest, problems };
  return {
    manifest,
    problems: await verifyDatabase(folder, manifest, dataDir, log, onProgress),
  };
}

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

function verifyDatabase(
  folder: BackupFolder,
  manifest: Manifest,
  dataDir: string,
  log: FastifyBaseLogger,
  onProgress: (progress: BackupProgress) => void,
): Promise<string[]> {
  return withVerifyFolder(dataDir, log, async (scratch, remove) => {
    let stop = async (): Promise<void> => {};
    // Neither a PostgreSQL nor a copy of the database may outlive the command.
    const onSignal = (): void =>
      void stop()
        .then(remove)
        .finally(() => process.exit(1));
    for (const signal of signals) process.once(signal, onSignal);
    try {
      const postgres = await startEmbeddedPostgres(
        {
          dataDir: scratch,
          purpose: "server",
          log: (level, message, detail) => log[level === "info" ? "debug" : level](detail ?? {}, message),
        },
        throwawayTuning,
      );
      stop = () => postgres.stop();
      return await verifyIn(postgres.connection, folder, manifest, log, onProgress).finally(stop);
    } finally {
      for (const signal of signals) process.off(signal, onSignal);
    }
  });
}

/** Restores the database of a backup into an empty one, and compares. */
async function verifyIn(
  connection: ConnectionSettings,
  folder: BackupFolder,
  manifest: Manifest,
  log: FastifyBaseLogger,
  onProgress: (progress: BackupProgress) => void,
): Promise<string[]> {
  const db = openDatabase(connection, {
    onError: (error) => log.warn({ err: error }, "an idle database connection broke"),
  });
  try {
    const problems: string[] = [];
    let done = 0;
    await loadDatabase(
      connection,
      {
        ...manifest,
        open: ({ part }) => folder.read(part),
      },
      {
        replace: false,
        isTemporary: true,
        onTable: () => onProgress({ phase: "database", total: manifest.tables.length, done: done++ }),
        finish: async (client) => {
          problems.push(...(await compareRows(client, manifest)));
          problems.push(...(await findMissingFiles(client, folder, manifest)));
        },
      },
    );
    await migrate(connection);
    problems.push(...(await verifyAudit(db)));
    return problems;
  } finally {
    await db.close();
  }
}

async function compareRows(client: pg.Client, manifest: Manifest): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, rows: expected, part } of manifest.tables) {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) as count from ${name.split(".").map(pg.escapeIdentifier).join(".")}`,
    );
    if (Number(rows[0]?.count) !== expected)
      problems.push(`${part.name} has ${rows[0]?.count} rows instead of ${expected}`);
  }
  return problems;
}

/** Files that the database names and the backup does not have, except those that were damaged before. */
async function findMissingFiles(
  client: pg.Client,
  folder: BackupFolder,
  manifest: Manifest,
): Promise<string[]> {
  await client.query("create temporary table backed_up (key text) on commit drop");
  async function* keys(): AsyncGenerator<string> {
    for (const key of manifest.damaged) yield `${key}\n`;
    for await (const { key } of readObjects(folder, manifest)) yield `${key}\n`;
  }
  await pipeline(Readable.from(keys()), client.query(copyFrom("copy backed_up from stdin")));
  const { rows } = await client.query<{ key: string }>(
    `select key from stored_files where damage is distinct from 'missing'
     except select key from backed_up order by key limit 100`,
  );
  return rows.map(({ key }) => `${key} is not in the backup, although its database names it`);
}

/** One line for each workspace whose audit log is broken. */
export async function verifyAudit(db: Database): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>("select workspace_id as id from audit_chains");
  const problems: string[] = [];
  for (const { id } of rows) {
    const { broken } = await verifyChain(db, id, null, null);
    if (broken !== null)
      problems.push(
        `the audit log of workspace ${id} is broken at entry ${broken.position}: ${broken.reason}`,
      );
  }
  return problems;
}
