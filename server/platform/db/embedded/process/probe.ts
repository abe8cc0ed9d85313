import { randomBytes } from "node:crypto";
import { lstat, unlink } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { codeOf, EmbeddedDatabaseError, messageOf } from "../errors.ts";
import { writeWhole } from "../files.ts";
import { PORT, SUPERUSER } from "../settings.ts";
import { parsePidFile, readPidFile } from "./pid-file.ts";

/** The server that responds at a socket, if any. */
export type Probe =
  | { readonly kind: "connected"; readonly client: pg.Client; readonly pid: number }
  /** Nobody listens. */
  | { readonly kind: "absent" }
  /** Somebody does, but takes no connections now; `progressing` while it replays its log. */
  | { readonly kind: "busy"; readonly reason: string; readonly progressing: boolean };

/** Application name of the connections that hold the cluster; a refused process reads the number back. */
function holderName(pid: number): string {
  return `parley holder ${pid}`;
}

/** A process that accepts but never responds is stopped or swapped out: try again later. */
const ANSWER_TIMEOUT_MS = 5000;

/**
 * Connects to the maintenance database at `socketDir` (advisory locks are per database, so all their users
 * must meet in one that always exists) and makes sure that this is the postmaster of `clusterDir`.
 */
export async function probe(socketDir: string, clusterDir: string, password: string): Promise<Probe> {
  const client = new pg.Client({
    host: socketDir,
    port: PORT,
    user: SUPERUSER,
    password,
    database: "postgres",
    // Explicit, as PGSSLMODE in the environment would count otherwise.
    ssl: false,
    application_name: holderName(process.pid),
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
  });
  // A lost connection shows as "end", which the holder watches; unheard, "error" would end the process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const text = await client.query<{ text: string }>("select pg_read_file('postmaster.pid') as text");
    const theirs = parsePidFile(text.rows[0]?.text ?? "");
    const here = await readPidFile(clusterDir);
    if (theirs && theirs.identity === here?.identity && (await seesFolder(client, clusterDir)))
      return { kind: "connected", client, pid: theirs.pid };
    await client.end();
    return { kind: "busy", reason: "another PostgreSQL responds at the socket", progressing: false };
  } catch (error) {
    await client.end().catch(() => undefined);
    return judge(error, socketDir, clusterDir);
  }
}

/**
 * Whether the server's data folder is this very folder: it reads what we have just written. A copied postmaster.pid
 * says the same as the original, and paths differ between containers that share a data folder.
 */
async function seesFolder(client: pg.Client, clusterDir: string): Promise<boolean> {
  const name = "parley.probe";
  const text = randomBytes(16).toString("hex");
  const { uid, gid } = await lstat(clusterDir);
  await writeWhole(join(clusterDir, name), text, 0o600, { uid, gid });
  try {
    const { rows } = await client.query<{ text: string | null }>(
      `select pg_read_file('${name}', 0, 100, true) as text`,
    );
    return rows[0]?.text === text;
  } finally {
    await unlink(join(clusterDir, name));
  }
}

function judge(error: unknown, socketDir: string, clusterDir: string): Probe {
  const code = codeOf(error);
  const reason = messageOf(error);
  if (code === "ENOENT" || code === "ECONNREFUSED") return { kind: "absent" };
  if (code === "28P01") {
    throw new EmbeddedDatabaseError(
      `the database in ${clusterDir} does not accept the password stored in its data folder`,
      {
        cause: error,
      },
    );
  }
  if (code === "EACCES") {
    throw new EmbeddedDatabaseError(`the database's socket in ${socketDir} cannot be used by this user`, {
      cause: error,
    });
  }
  // 57P03 is "cannot connect now": starting up, recovering or shutting down.
  return { kind: "busy", reason, progressing: code === "57P03" && !/shutting down/.test(reason) };
}
