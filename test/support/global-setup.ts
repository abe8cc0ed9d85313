import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { findWebApp } from "../../server/operations/web/build.ts";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
  throwawayTuning,
} from "../../server/platform/db/embedded/index.ts";
import { migrate } from "../../server/platform/db/migrate.ts";
import { connectionVariable, templateDatabase } from "./database.ts";
import { parentOf, processorMs } from "./processor-time.ts";
import { noS3Server, type S3Server, s3FileVariable, startS3Server } from "./s3-server.ts";
import { webFolderVariable } from "./server-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let postgres: EmbeddedPostgres | undefined;
let folder: string | undefined;
let postmaster = 0;
let s3: Promise<S3Server | null> | undefined;

/**
 * One real PostgreSQL for the whole run, with a migrated template that each test file clones; and, where one of the files
 * needs it, the built web app and one S3 server.
 */
export async function globalSetup(files: readonly string[]): Promise<void> {
  // Both end before the teardown begins, also when one of them fails.
  for (const result of await Promise.allSettled([build(files), startDatabase(files)]))
    if (result.status === "rejected") throw result.reason;
}

/** In a process of its own, because the bundler sets environment variables, and before tests that would all build it. */
async function build(files: readonly string[]): Promise<void> {
  const usesWeb = /\b(startBrowserApp|buildWebApp|measureAll)\b/;
  const script = files.some((file) => usesWeb.test(readFileSync(file, "utf8"))) ? "build-web" : "bundle";
  const program = join(root, "scripts", `${script}.ts`);
  const [code] = await once(spawn(process.execPath, [program], { stdio: "inherit" }), "exit");
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
  const webFolder = findWebApp();
  if (webFolder !== null) process.env[webFolderVariable] = webFolder;
}

async function startDatabase(files: readonly string[]): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), "parley-test-"));
  if (noS3Server === false && files.some((file) => readFileSync(file, "utf8").includes("startS3Server")))
    s3 = shareS3Server(join(folder, "s3.json"));
  postgres = await startEmbeddedPostgres(
    {
      dataDir: folder,
      purpose: "server",
      log: (level, message, detail) => {
        if (level !== "info") console.error(message, detail ?? "");
      },
    },
    {
      settings: {
        ...throwawayTuning.settings,
        max_wal_size: "256MB",
        max_connections: "300",
      },
      systemDir: join(folder, "system"),
      readyTimeoutMs: 60_000,
    },
  );
  const { connection, superuser } = postgres;
  const admin = new pg.Client(superuser);
  await admin.connect();
  const { rows } = await admin.query<{ pid: number; hba: string }>(
    "select pg_backend_pid() as pid, current_setting('hba_file') as hba",
  );
  const { pid = 0, hba = "" } = rows[0] ?? {};
  postmaster = parentOf(pid);
  // Thousands of connections: proving that each knows the password would take 3 ms of processor time.
  writeFileSync(hba, `local all all trust\n${readFileSync(hba, "utf8")}`);
  await admin.query("select pg_reload_conf()");
  // Beyond the program's rights: creating databases, and changing rows without triggers.
  await admin.query(`alter role ${connection.user} createdb`);
  await admin.query(`grant set on parameter session_replication_role to ${connection.user}`);
  await admin.query(`create database ${templateDatabase} owner ${connection.user}`);
  await admin.end();
  const template = { ...connection, database: templateDatabase };
  await migrate(template);
  process.env[connectionVariable] = JSON.stringify(connection);
}

/** The processor time that PostgreSQL has taken for the connections that have ended; 0 where the system doesn't show it. */
export function postgresMs(): number {
  return postmaster === 0 ? 0 : processorMs(postmaster);
}

/** Starts an S3 server while the first tests run; those that need it wait for the file. */
async function shareS3Server(file: string): Promise<S3Server | null> {
  const started = startS3Server();
  process.env[s3FileVariable] = file;
  try {
    const server = await started;
    if (server !== null) {
      const { endpoint, accessKeyId, secretAccessKey } = server;
      writeFileSync(file, JSON.stringify({ access: { endpoint, accessKeyId, secretAccessKey } }));
    }
    return server;
  } catch (error) {
    writeFileSync(file, JSON.stringify({ error: (error as Error).message }));
    return null;
  }
}

export async function globalTeardown(): Promise<void> {
  await (await s3)?.stop();
  await postgres?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
