import pg from "pg";
import { codeOf, messageOf } from "./errors.ts";
import { parsePidFile, readPidFile } from "./pid-file.ts";
import { PORT, SUPERUSER } from "./settings.ts";

/** What answers at a socket. */
export type Probe =
  | { readonly kind: "connected"; readonly client: pg.Client; readonly pid: number }
  /** Nobody listens. */
  | { readonly kind: "absent" }
  /** Somebody does, but takes no connections now; `progressing` while it replays its log. */
  | { readonly kind: "busy"; readonly reason: string; readonly progressing: boolean };

/** How the connections that hold the cluster are called; whoever is refused reads the number back. */
export function holderName(pid: number): string {
  return `parley holder ${pid}`;
}

/** A process that accepts but never answers is stopped or swapped out: come again later. */
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
    if (theirs && theirs.identity === here?.identity) return { kind: "connected", client, pid: theirs.pid };
    await client.end();
    return { kind: "busy", reason: "another PostgreSQL answers at the socket", progressing: false };
  } catch (error) {
    await client.end().catch(() => undefined);
    return judge(error, socketDir, clusterDir);
  }
}

function judge(error: unknown, socketDir: string, clusterDir: string): Probe {
  const code = codeOf(error);
  const reason = messageOf(error);
  if (code === "ENOENT" || code === "ECONNREFUSED") return { kind: "absent" };
  if (code === "28P01") {
    throw new Error(`the database in ${clusterDir} refuses the password of its data folder`, {
      cause: error,
    });
  }
  if (code === "EACCES") {
    throw new Error(`the database's socket in ${socketDir} cannot be used by this user`, { cause: error });
  }
  // 57P03 is "cannot connect now": starting up, recovering or shutting down.
  return { kind: "busy", reason, progressing: code === "57P03" && !/shutting down/.test(reason) };
}
