import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import { refuseMoved } from "./operations/move/moved.ts";
import { findProcesses } from "./operations/system/processes.ts";
import { type Config, ConfigError } from "./platform/config/config.ts";
import { type ConnectionSettings, type Database, openDatabase } from "./platform/db/database.ts";
import { startEmbeddedPostgres } from "./platform/db/embedded/index.ts";
import {
  finishMigrations,
  type Migration,
  MigrationFailedError,
  migrate,
  readMigrations,
  readSchema,
  SchemaOutdatedError,
} from "./platform/db/migrate.ts";
import { isOlder } from "./platform/db/oldest-version.ts";
import { PoolerError, preparePooler } from "./platform/db/pooler.ts";

/** An open database and how to close it. */
export interface OpenedDatabase {
  readonly db: Database;
  /** For sessions of their own, past a pooler: migrations, backups, metrics. */
  readonly settings: ConnectionSettings;
  /** Whether it is the embedded one, which only one server uses at a time. */
  readonly isEmbedded: boolean;
  /** Says that this program can use the database; before, closing it leaves its files to their previous owner. */
  accept(): void;
  close(): Promise<void>;
}

/** Whether there is a configured database; opening one that is missing creates it. */
export function hasDatabase({ databaseUrl, dataDir }: Pick<Config, "databaseUrl" | "dataDir">): boolean {
  return (
    databaseUrl !== null || ["postgres", "postgres.location"].some((name) => existsSync(join(dataDir, name)))
  );
}

/**
 * Connects to the configured database: starts or joins the embedded PostgreSQL, or uses the one at PARLEY_DATABASE_URL.
 * Does not change its schema.
 * @param purpose `server` and `lone-tool` hold the embedded database exclusively; `tool` works beside a running server.
 */
export async function openConfiguredDatabase(
  config: Config,
  purpose: "server" | "tool" | "lone-tool",
  log: FastifyBaseLogger,
  onLost: (error: Error) => void = () => {},
): Promise<OpenedDatabase> {
  // Others may traverse the folder, since the database's system user has to; its contents are closed to them.
  makeDataDir(config.dataDir);
  const embedded =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          purpose: purpose === "tool" ? "tool" : "server",
          log: (level, message, detail) => log[level](detail ?? {}, message),
          onLost,
        })
      : null;
  const settings: ConnectionSettings = embedded?.connection ?? { connectionString: config.databaseUrl ?? "" };
  const direct = config.databaseDirectUrl === null ? null : { connectionString: config.databaseDirectUrl };
  // Preparing a pooler ends many of its sessions.
  let isPreparing = direct !== null;
  const db = openDatabase(settings, {
    // Tells servers from commands that work beside them (backup/snapshot.ts).
    ...(purpose === "server" ? {} : { applicationName: "parley tool" }),
    ...(direct === null ? {} : { direct }),
    ...(config.databaseReplicaUrl === null
      ? {}
      : { replica: { settings: { connectionString: config.databaseReplicaUrl }, onState: replicaLog(log) } }),
    onError: (error) => {
      if (!isPreparing) log.warn({ err: error }, "an idle database connection broke");
    },
  });
  try {
    if (direct !== null) await preparePooler(db, direct).catch(asConfigError);
    isPreparing = false;
    if (direct === null && embedded === null) await db.pool.query("select 1").catch(asConfigError);
    if (embedded === null && purpose === "server") await warnAboutSuperuser(db, log);
    return {
      db,
      settings: direct ?? settings,
      isEmbedded: embedded !== null,
      accept: () => embedded?.accept(),
      async close() {
        await db.close();
        await embedded?.stop();
      },
    };
  } catch (error) {
    await db.close();
    await embedded?.stop();
    throw error;
  }
}

function replicaLog(log: FastifyBaseLogger): (error: Error | null) => void {
  return (error) => {
    if (error === null) log.info("the read replica can be read again");
    else log.warn({ err: error }, "the read replica can't be read; reading from the primary");
  };
}

/** @throws ConfigError, in one line, where the settings are the cause. */
function asConfigError(error: unknown): never {
  if (error instanceof PoolerError) throw new ConfigError(`invalid setting: ${error.message}`);
  if (error instanceof Error && /unsupported startup parameter/.test(error.message))
    throw new ConfigError(
      "invalid setting: PARLEY_DATABASE_URL leads to a pooler; set PARLEY_DATABASE_DIRECT_URL to the database itself",
    );
  throw error;
}

/** An error in an SQL statement does less harm in an ordinary role; owning the database is all that Parley needs. */
async function warnAboutSuperuser({ pool }: Database, log: FastifyBaseLogger): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    "select rolname as name from pg_roles where rolname = current_user and rolsuper",
  );
  if (rows[0])
    log.warn(
      { role: rows[0].name },
      "PARLEY_DATABASE_URL connects as a superuser; use an ordinary role that owns the database",
    );
}

/**
 * Brings the schema of an open database up to date.
 * @returns the names of the migrations applied now.
 */
export async function migrateDatabase(
  { settings }: OpenedDatabase,
  log: FastifyBaseLogger,
): Promise<string[]> {
  return migrate(settings, { onRetry: (message) => log.warn(message) });
}

/**
 * The same for a program that replaces an older one: copies the database before it changes. A database that a newer
 * version has migrated, and that allows this version, stays as it is.
 */
export async function upgradeDatabase(
  opened: OpenedDatabase,
  config: Config,
  log: FastifyBaseLogger,
): Promise<string[]> {
  await refuseMoved(opened.db.pool);
  const { isEmpty, isNewer, missing, unfinished } = await readSchema(opened.settings);
  if (unfinished.length > 0)
    log.info(
      { unfinished },
      "run `parley migrate --finish` once every process runs this version and you won't return to the previous one",
    );
  if (isNewer && missing.length === 0) {
    log.info("the database was migrated by a newer version, which allows this one");
    opened.accept();
    return [];
  }
  if (!isEmpty && missing.length > 0)
    await copyBefore(opened, config, log, async () => (await readSchema(opened.settings)).missing.length > 0);
  const migrated = await migrateDatabase(opened, log);
  opened.accept();
  return migrated;
}

/**
 * Removes what only older versions use; they can't use the database afterwards. Copies the database before.
 * @param onWait called before the wait until older processes have stopped.
 * @returns the names of the migrations applied now.
 */
export async function finishUpgrade(
  opened: OpenedDatabase,
  config: Config,
  log: FastifyBaseLogger,
  onWait: (version: string, waitMs: number) => void,
): Promise<string[]> {
  return finishMigrations(opened.settings, {
    onBegin: async (version) => {
      await refuseOlderProcesses(opened.db, version);
      await copyBefore(opened, config, log, async () => true);
    },
    onWait,
    onRetry: (message) => log.warn(message),
  });
}

/** @throws MigrationFailedError while processes run that would have to stop serving. */
async function refuseOlderProcesses(db: Database, oldest: string): Promise<void> {
  const older = (await findProcesses(db)).filter(
    ({ is_responding, version }) => is_responding && isOlder(version, oldest),
  );
  if (older.length > 0)
    throw new MigrationFailedError(
      `processes of versions older than ${oldest} still run: ${older.map(({ role, version, host, pid }) => `${role} ${version} on ${host} (pid ${pid})`).join(", ")}. Upgrade or stop them, and try again a minute after the last one was killed. Nothing was changed`,
    );
}

/** @param isNeeded asked again when no other process copies or migrates any more. */
async function copyBefore(
  { settings, isEmbedded }: OpenedDatabase,
  config: Config,
  log: FastifyBaseLogger,
  isNeeded: () => Promise<boolean>,
): Promise<void> {
  // Loaded only now: few starts are upgrades.
  const { backUpBeforeUpgrade } = await import("./operations/backup/upgrade.ts");
  if (config.backup.beforeUpgrade ?? isEmbedded)
    await backUpBeforeUpgrade(settings, config.dataDir, log, isNeeded);
}

/** The database for a command that replaces what it has: no server may use it meanwhile. */
export async function openDatabaseAlone(config: Config, log: FastifyBaseLogger): Promise<OpenedDatabase> {
  // Nothing holds a database of your own exclusively; such commands check it for themselves.
  const opened = await openConfiguredDatabase(config, "lone-tool", log);
  return refuseMoved(opened.db.pool).then(
    () => opened,
    async (error) => {
      await opened.close();
      throw error;
    },
  );
}

/**
 * The database for a command: its schema must be that of this program. An empty database gets its schema here.
 * @throws SchemaOutdatedError when migrations are missing: only the server and `parley migrate` apply them.
 */
export async function openDatabaseForTool(
  config: Config,
  log: FastifyBaseLogger,
  migrations: readonly Migration[] = readMigrations(),
): Promise<OpenedDatabase> {
  const opened = await openConfiguredDatabase(config, "tool", log);
  try {
    const schema = await readSchema(opened.settings, migrations);
    if (schema.isEmpty) await migrateDatabase(opened, log);
    else if (schema.missing.length > 0)
      throw new SchemaOutdatedError(
        `the database is from an older version: it lacks ${schema.missing.join(", ")}. Start the server of this version, or run \`parley migrate\``,
      );
    await refuseMoved(opened.db.pool);
    opened.accept();
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/**
 * Creates the data folder and its missing parents. Not with mkdir's `recursive`, which retries endlessly where an
 * existing folder accepts no new ones, such as below /proc.
 * @throws ConfigError in one line.
 */
function makeDataDir(path: string): void {
  try {
    const missing: string[] = [];
    for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
    for (const folder of missing) mkdirSync(folder, { mode: 0o711 });
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(
      `invalid setting: PARLEY_DATA_DIR ${path} can't be used: ${(error as Error).message}`,
    );
  }
}
