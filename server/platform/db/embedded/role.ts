import { createHmac } from "node:crypto";
import pg from "pg";
import { ensureDatabase } from "./process/holders.ts";
import { APP_ROLE, DATABASE } from "./settings.ts";
import type { Connection } from "./types.ts";

/**
 * Creates what the program connects to, unless it exists: an ordinary role and its database. In a database from before
 * there was such a role, the role becomes the owner of everything that belongs to the superuser.
 * @param admin a connection of the superuser to the maintenance database.
 * @param superuser how the superuser connects to the program's database.
 * @returns how the program connects.
 */
export async function ensureRole(admin: pg.Client, superuser: Connection): Promise<Connection> {
  // From the superuser's password, so that there is no second secret to keep.
  const password = createHmac("sha256", superuser.password).update(APP_ROLE).digest("base64url");
  const { rowCount } = await admin.query("select from pg_roles where rolname = $1", [APP_ROLE]);
  if (rowCount === 0) {
    // A statement that fails would be logged, and this one contains the password.
    await admin.query("set log_min_error_statement = panic");
    await admin.query(`create role ${APP_ROLE} login password ${admin.escapeLiteral(password)}`);
    await admin.query("reset log_min_error_statement");
  }
  await ensureDatabase(admin, DATABASE, APP_ROLE);
  await transferOwnership(superuser);
  return { ...superuser, user: APP_ROLE, password };
}

/** One transaction, so a start that is killed leaves the objects as they were. */
async function transferOwnership(superuser: Connection): Promise<void> {
  const client = new pg.Client({ ...superuser, ssl: false, application_name: "parley ownership" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ statement: string }>(ownershipStatements, [APP_ROLE]);
    if (rows.length === 0) return;
    await client.query("begin; set local lock_timeout = '60s'");
    for (const { statement } of rows) await client.query(statement);
    await client.query("commit");
  } finally {
    await client.end();
  }
}

/**
 * A statement for each object of the superuser's own. Left out are the system's objects, members of extensions, and
 * what follows its owner: sequences of columns, row types, array types.
 */
const ownershipStatements = `
  with mine as (select oid from pg_roles where rolname = current_user),
  objects as (
    select 'pg_class'::regclass as class, c.oid, relowner as owner, c.oid::regclass::text as name,
      case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end as kind
    from pg_class c where relkind in ('r', 'p', 'v', 'm', 'S') and not exists (
      select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and relkind = 'S' and deptype in ('a', 'i'))
    union all
    select 'pg_proc'::regclass, oid, proowner, oid::regprocedure::text, 'routine' from pg_proc
    union all
    select 'pg_type'::regclass, t.oid, typowner, format_type(t.oid, null), 'type' from pg_type t
    left join pg_class c on c.oid = typrelid
    where typtype in ('e', 'd', 'r') or (typtype = 'c' and c.relkind = 'c')
    union all
    select 'pg_namespace'::regclass, oid, nspowner, quote_ident(nspname), 'schema' from pg_namespace
    union all
    select 'pg_ts_config'::regclass, oid, cfgowner, oid::regconfig::text, 'text search configuration' from pg_ts_config
    union all
    select 'pg_ts_dict'::regclass, oid, dictowner, oid::regdictionary::text, 'text search dictionary' from pg_ts_dict
    union all
    select 'pg_database'::regclass, oid, datdba, quote_ident(datname), 'database' from pg_database
    where datname = current_database())
  select format('alter %s %s owner to %I', kind, name, $1::text) as statement
  from objects join mine on mine.oid = objects.owner
  where objects.oid >= 16384 and not exists (
    select from pg_depend d where d.classid = objects.class and d.objid = objects.oid and d.deptype = 'e')
  order by kind = 'database', kind = 'schema', name`;
