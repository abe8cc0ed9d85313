import pg from "pg";
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
    // Sessions that the pooler opened before; it replaces them.
    if (missing.length > 0)
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and usename = current_user and state = 'idle' and pid <> pg_backend_pid()`,
      );
  } finally {
    await client.end();
  }
  const { rows } = await db.pool.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name = any($1::text[])",
    [Object.keys(sessionSettings)],
  );
  const wrong = rows.filter(({ name, setting }) => sessionSettings[name] !== setting).map(({ name }) => name);
  if (wrong.length > 0)
    throw new PoolerError(
      `sessions of PARLEY_DATABASE_URL lack the settings of their role (${wrong.join(", ")}): use the same role in PARLEY_DATABASE_DIRECT_URL, and let the pooler open new connections (in PgBouncer: RECONNECT)`,
    );
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
