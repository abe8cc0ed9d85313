import { randomBytes } from "node:crypto";
import pg from "pg";
import type { ConnectionSettings } from "../../server/platform/db/database.ts";
import { migrate, readMigrations } from "../../server/platform/db/migrate.ts";
import { until } from "./until.ts";

/** The environment variable that passes the run's PostgreSQL to the test files. */
export const connectionVariable = "TEST_POSTGRES";
export const templateDatabase = "parley_template";

interface Connection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

function serverConnection(): Connection {
  const text = process.env[connectionVariable];
  if (text === undefined) throw new Error("run the tests with npm test: it starts the PostgreSQL they need");
  return JSON.parse(text) as Connection;
}

/** A database for one test file. */
export interface TestDatabase {
  readonly settings: Connection & ConnectionSettings;
  /** The connection string, for servers in other processes. */
  readonly url: string;
  /** Drops it after all connections are closed; a leaked connection fails the test. */
  drop(): Promise<void>;
}

/**
 * Creates a database.
 * @param template default: the migrated template; `template1` for an empty database.
 */
export async function createTestDatabase(template: string = templateDatabase): Promise<TestDatabase> {
  const server = serverConnection();
  const name = `test_${randomBytes(6).toString("hex")}`;
  // Copying files takes half the processor time of copying pages through the write-ahead log.
  await onServer((client) => client.query(`create database ${name} template ${template} strategy file_copy`));
  const settings = { ...server, database: name };
  const { host, user, password, port } = settings;
  return {
    settings,
    url: `postgres://${user}:${encodeURIComponent(password)}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    drop: () =>
      onServer(async (client) => {
        await until(`all connections to ${name} are closed`, async () => {
          const { rows } = await client.query("select 1 from pg_stat_activity where datname = $1 limit 1", [
            name,
          ]);
          return rows.length === 0;
        });
        await client.query(`drop database ${name}`);
      }),
  };
}

/**
 * The name of a database to create others from, which the first caller of the run fills.
 * @param fill writes to a copy of the migrated template, and closes its connections.
 */
export async function keepTemplate(name: string, fill: (url: string) => Promise<void>): Promise<string> {
  const template = `parley_template_${name}`;
  const exists = await onServer(async (client) => {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [template]);
    return rowCount === 1;
  });
  if (exists) return template;
  const draft = await createTestDatabase();
  await fill(draft.url);
  try {
    await onServer((client) =>
      client.query(`alter database ${draft.settings.database} rename to ${template}`),
    );
  } catch (error) {
    // Another process of the run has filled one meanwhile.
    if ((error as { code?: unknown }).code !== "42P04") throw error;
    await draft.drop();
  }
  return template;
}

/** Creates the schema of the first migration in an empty database, as version 1.0.0 left it. */
export async function createOldSchema(url: string): Promise<void> {
  await migrate({ connectionString: url }, { migrations: readMigrations().slice(0, 1) });
}

async function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(serverConnection());
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
