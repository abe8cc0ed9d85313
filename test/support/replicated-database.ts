import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { promisify } from "node:util";
import pg from "pg";
import { POSTGRES_ENVIRONMENT, readyBinaries } from "../../server/platform/db/embedded/binaries/binaries.ts";
import { initdbIdentity } from "../../server/platform/db/embedded/initdb.ts";
import { databaseUser, type SystemUser } from "../../server/platform/db/embedded/system-user.ts";
import { freePort } from "./port.ts";
import { until } from "./until.ts";

/** One of the two PostgreSQL servers. */
interface DatabaseServer {
  readonly port: number;
  /** The connection string of the ordinary role that owns the database. */
  readonly url: string;
  /** Runs a statement as superuser. */
  query<Row extends pg.QueryResultRow>(statement: string, database?: string): Promise<Row[]>;
  start(): Promise<void>;
  /** Ends it cleanly. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash would: nothing is written any more. */
  crash(): Promise<void>;
}

const common = {
  fsync: "off",
  full_page_writes: "off",
  max_connections: "100",
  shared_buffers: "32MB",
  max_wal_size: "128MB",
  wal_keep_size: "256MB",
  hot_standby: "on",
  // A standby that lost its primary tries again soon.
  wal_retrieve_retry_interval: "200ms",
};

/** Starts a PostgreSQL server and a streaming replica of it, until the end of the test file. */
export async function startReplicatedDatabase(): Promise<{
  readonly primary: DatabaseServer;
  readonly standby: DatabaseServer;
}> {
  const folder = mkdtempSync(join(tmpdir(), "parley-replicated-"));
  chmodSync(folder, 0o755);
  const { user } = await initdbIdentity(databaseUser(folder, folder));
  const binaries = await readyBinaries(user, join(folder, "system"));
  const [primaryPort, standbyPort] = [await freePort(), await freePort()];
  const data = { primary: join(folder, "primary"), standby: join(folder, "standby") };
  mkdirSync(data.primary, { mode: 0o700 });
  if (user) chownSync(data.primary, user.uid, user.gid);
  await promisify(execFile)(
    binaries.initdb,
    [
      ["-D", data.primary],
      ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--lc-ctype=C.UTF-8"],
      ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-sync", "--no-instructions"],
    ].flat(),
    { ...user, cwd: "/", env: POSTGRES_ENVIRONMENT },
  );
  const shared = { postgres: binaries.postgres, user };
  const primary = databaseServer({ ...shared, data: data.primary, port: primaryPort });
  await primary.start();
  await primary.query("create role parley login");
  await primary.query("create database parley owner parley");
  await primary.stop();
  // The copy of a server that does not run is a base backup.
  cpSync(data.primary, data.standby, { recursive: true });
  if (user) await promisify(execFile)("chown", ["-R", `${user.uid}:${user.gid}`, data.standby]);
  chmodSync(data.standby, 0o700);
  writeFileSync(join(data.standby, "standby.signal"), "");
  appendFileSync(
    join(data.standby, "postgresql.auto.conf"),
    `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=postgres application_name=standby'\n`,
  );
  const standby = databaseServer({ ...shared, data: data.standby, port: standbyPort });
  after(async () => {
    await primary.crash();
    await standby.crash();
    rmSync(folder, { recursive: true, force: true });
  });
  await primary.start();
  await standby.start();
  await untilStreaming(primary);
  return { primary, standby };
}

/** Waits until the standby receives changes. */
export function untilStreaming(primary: DatabaseServer): Promise<true> {
  return until("the standby receives changes", async () => {
    const rows = await primary.query("select 1 from pg_stat_replication where state = 'streaming'");
    return rows.length > 0 || undefined;
  });
}

function databaseServer(options: {
  readonly postgres: string;
  readonly user: SystemUser | undefined;
  readonly data: string;
  readonly port: number;
}): DatabaseServer {
  const { port, user } = options;
  let child: ChildProcess | null = null;
  let output = "";
  const connect = async (database = "postgres"): Promise<pg.Client> => {
    const client = new pg.Client({ host: "127.0.0.1", port, user: "postgres", database });
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    child = null;
  };
  return {
    port,
    url: `postgres://parley@127.0.0.1:${port}/parley`,
    async query<Row extends pg.QueryResultRow>(statement: string, database?: string) {
      const client = await connect(database);
      try {
        return (await client.query<Row>(statement)).rows;
      } finally {
        await client.end();
      }
    },
    async start() {
      const settings = { ...common, port: String(port), listen_addresses: "127.0.0.1" };
      child = spawn(
        options.postgres,
        [
          ["-D", options.data, "-c", "unix_socket_directories="],
          Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
        ].flat(),
        { ...user, cwd: "/", env: POSTGRES_ENVIRONMENT, stdio: ["ignore", "ignore", "pipe"] },
      );
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
      await until(`PostgreSQL listens on port ${port}`, async () => {
        if (child === null || child.exitCode !== null) throw new Error(`PostgreSQL exited: ${output}`);
        return connect().then(
          (client) => client.end().then(() => true),
          () => false,
        );
      });
    },
    stop: () => end("SIGINT"),
    crash: () => end("SIGQUIT"),
  };
}
