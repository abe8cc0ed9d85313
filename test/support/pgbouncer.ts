import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import pg from "pg";
import type { TestDatabase } from "./database.ts";
import { freePort } from "./port.ts";
import { skipWithout } from "./programs.ts";
import { until } from "./until.ts";

/** The reason to skip tests that need PgBouncer, for a test's `skip` option; false where they run. */
export const noPgBouncer: string | false = skipWithout("pgbouncer");

/**
 * Starts PgBouncer in transaction mode in front of a database, until the end of the test file.
 * @param poolSize sessions of PostgreSQL that all clients share.
 * @returns the connection string that leads through it.
 */
export async function startPgBouncer({ settings }: TestDatabase, poolSize: number): Promise<string> {
  const { host, port, user, password, database } = settings;
  const listenPort = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "parley-pgbouncer-"));
  // It refuses to run as root, and must be able to enter the folder of PostgreSQL's socket.
  const { uid, gid } = statSync(host);
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
${database} = host=${host} port=${port} user=${user} password=${password}
[pgbouncer]
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
`,
  );
  for (const path of [folder, file]) chownSync(path, uid, gid);
  const child = spawn("pgbouncer", [file], {
    ...(process.getuid?.() === 0 ? { uid, gid } : {}),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const ended = once(child, "exit");
  after(async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `postgres://${user}@127.0.0.1:${listenPort}/${database}`;
  await until("PgBouncer accepts connections", async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer exited: ${output}`);
    const client = new pg.Client(url);
    client.on("error", () => {});
    return client.connect().then(
      () => client.end().then(() => true),
      () => false,
    );
  });
  return url;
}
