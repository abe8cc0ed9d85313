import pg from "pg";
import { databaseIdentity } from "./cluster.ts";
import { isConnectionError } from "./connection-errors.ts";
import { type ConnectionSettings, type Database, sessionSettings } from "./database.ts";

/** The sessions of a pooler can't be used as they are; the message is one line with the way out. */
export class PoolerError extends Error {}

/** Any constant will do, as long as every process uses the same. */
const settingsLock = 7_271_539_028;

/**
 * Gives the database's role the session settings that Parley relies on, because a pooler in transaction mode does not pass
 * those of its clients on.
 * @param direct leads past the pooler, with the same role.
 * @throws PoolerError if sessions of the pooler don't have the settings.
 */
export async function preparePooler(db: Database, direct: ConnectionSettings): Promise<void> {
  const client = new pg.Client({ ...direct, application_name: "parley pooler" });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("begin");
    // Two processes that start at once would change the same row of the catalog.
    await client.query("select pg_advisory_xact_lock($1)", [settingsLock]);
    const missing = await readMissing(client);
    for (const [name, value] of missing) {
      const { rows } = await client.query<{ statement: string }>(
        "select format('alter role current_user in database %I set %I = %L', current_database(), lower($1), $2::text) as statement",
        [name, value],
      );
      await client.query(rows[0]?.statement ?? "");
    }
    await client.query("commit");
    await checkSameDatabase(db, client);
    await replaceSessions(db, client);
  } finally {
    await client.end();
  }
}

/** @throws PoolerError if the two URLs lead to different databases, of which only one would be migrated and backed up. */
async function checkSameDatabase({ pool }: Database, client: pg.Client): Promise<void> {
  const statement = `select ${databaseIdentity} as identity`;
  const [pooled, direct] = await Promise.all(
    [pool, client].map((each) => (each as pg.Pool).query<{ identity: string }>(statement)),
  );
  if (pooled?.rows[0]?.identity !== direct?.rows[0]?.identity)
    throw new PoolerError("PARLEY_DATABASE_URL and PARLEY_DATABASE_DIRECT_URL lead to different databases");
}

/** How often sessions are replaced before that counts as failed. */
const maxRounds = 20;

/**
 * Ends the pooler's sessions that began before the role had the settings; the pooler opens others. They are found through
 * it, because the role's other sessions must stay.
 * @throws PoolerError if its sessions don't get the settings.
 */
async function replaceSessions(db: Database, client: pg.Client): Promise<void> {
  let wrong: readonly WrongSession[] = [];
  for (let round = 0; round < maxRounds; round++) {
    wrong = await findWrong(db);
    if (wrong.length === 0) return;
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where pid = any($1) and state = 'idle'",
      [wrong.map(({ pid }) => pid)],
    );
  }
  const names = [...new Set(wrong.flatMap(({ missing }) => missing))].join(", ");
  throw new PoolerError(
    `sessions of PARLEY_DATABASE_URL lack the settings of their role (${names}): use the same role in PARLEY_DATABASE_DIRECT_URL, and let the pooler open new connections (in PgBouncer: RECONNECT)`,
  );
}

/** A session of the pooler that lacks settings. */
interface WrongSession {
  readonly pid: number;
  readonly missing: readonly string[];
}

/** Statements that run at the same time are spread over the pooler's sessions. */
async function findWrong({ pool }: Database): Promise<readonly WrongSession[]> {
  const found = await Promise.allSettled(
    Array.from({ length: pool.options.max }, () =>
      pool.query<WrongSession>(
        `select pg_backend_pid() as pid, array(
             select name from pg_settings s join unnest($1::text[], $2::text[]) wanted (name, setting) using (name)
             where s.setting <> wanted.setting) as missing
           from pg_sleep(0.02)`,
        [Object.keys(sessionSettings), Object.values(sessionSettings)],
      ),
    ),
  );
  return found.flatMap((result) => {
    if (result.status === "fulfilled") return result.value.rows.filter(({ missing }) => missing.length > 0);
    // A session that was just ended.
    if (isConnectionError(result.reason)) return [];
    throw result.reason;
  });
}

/** Session settings that the role does not have in this database. */
async function readMissing(client: pg.Client): Promise<[string, string][]> {
  const { rows } = await client.query<{ setting: string }>(
    `select unnest(s.setconfig) as setting from pg_db_role_setting s
       join pg_database d on d.oid = s.setdatabase join pg_roles r on r.oid = s.setrole
     where d.datname = current_database() and r.rolname = current_user`,
  );
  const present = new Set(rows.map(({ setting }) => setting.toLowerCase()));
  return Object.entries(sessionSettings).filter(
    ([name, value]) => !present.has(`${name}=${value}`.toLowerCase()),
  );
}
