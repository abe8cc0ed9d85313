import { rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../server/db/embedded/index.ts";
import { migrate } from "../../server/db/migrate.ts";
import { migrateJobs } from "../../server/jobs/queue.ts";
import { connectionVariable, templateDatabase } from "./database.ts";
import { makeQuickFolder } from "./quick-folder.ts";

let postgres: EmbeddedPostgres | undefined;
let folder: string | undefined;

/** One real PostgreSQL for the whole run, with a migrated template that each test file clones. */
export async function globalSetup(): Promise<void> {
  folder = makeQuickFolder("parley-test-");
  postgres = await startEmbeddedPostgres(
    {
      dataDir: folder,
      purpose: "server",
      log: (level, message, detail) => {
        if (level !== "info") console.error(message, detail ?? "");
      },
    },
    {
      // Nothing here has to survive a crash of the machine.
      settings: {
        fsync: "off",
        synchronous_commit: "off",
        full_page_writes: "off",
        max_wal_size: "256MB",
        max_connections: "300",
      },
      systemDir: join(folder, "system"),
      readyTimeoutMs: 60_000,
    },
  );
  const { connection } = postgres;
  const admin = new pg.Client(connection);
  await admin.connect();
  await admin.query(`create database ${templateDatabase}`);
  await admin.end();
  const template = { ...connection, database: templateDatabase };
  await migrate(template);
  const pool = new pg.Pool(template);
  await migrateJobs(pool);
  await pool.end();
  process.env[connectionVariable] = JSON.stringify(connection);
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
