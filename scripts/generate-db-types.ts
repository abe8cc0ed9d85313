import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startEmbeddedPostgres } from "../server/db/embedded/index.ts";
import { migrate } from "../server/db/migrate.ts";

/**
 * Writes server/db/types.ts from a freshly migrated database (`npm run db:types`), or prints it (`--print`). With
 * DATABASE_URL the database there is read instead; it has to be migrated.
 */
const url = process.env.DATABASE_URL;
const types = url === undefined ? await generateFresh() : await generate(url);
if (process.argv.includes("--print")) process.stdout.write(types);
else writeFileSync(fileURLToPath(new URL("../server/db/types.ts", import.meta.url)), types);

async function generateFresh(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-types-"));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, purpose: "server", log: () => {} });
  try {
    await migrate(postgres.connection);
    const { host, port, user, password, database } = postgres.connection;
    return await generate(
      `postgres://${user}:${encodeURIComponent(password)}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
    );
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function generate(url: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-types-"));
  const file = join(folder, "types.ts");
  const program = fileURLToPath(new URL("../node_modules/.bin/kysely-codegen", import.meta.url));
  try {
    await promisify(execFile)(process.execPath, [
      program,
      "--dialect=postgres",
      "--date-parser=timestamp",
      "--default-schema=public",
      "--exclude-pattern=schema_migrations",
      `--url=${url}`,
      `--out-file=${file}`,
    ]);
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
