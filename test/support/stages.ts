import pg from "pg";
import type { ServerProcess } from "./server-process.ts";
import { until } from "./until.ts";

/** Stops a server process inside a transaction, so that it can be killed at an exact point of its work. */
export interface Stages<Stage extends string> {
  /** From now on, the server stops before the change of this stage. */
  stopAt(stage: Stage): Promise<void>;
  /** Waits until the server has stopped. */
  hasStopped(stage: Stage): Promise<void>;
  /** Kills the server, and has its jobs taken up at once instead of after ten seconds without a heartbeat. */
  kill(): Promise<void>;
}

/** Locked by the test; the server waits for it. */
const lockKey = 4711;

/**
 * Adds triggers that wait at stages.
 * @param database a connection that stays open.
 * @param stages the events of PostgreSQL triggers before which to stop, such as "before insert on recordings".
 */
export async function createStages<Stage extends string>(
  database: pg.Client,
  server: ServerProcess,
  stages: Readonly<Record<Stage, string>>,
): Promise<Stages<Stage>> {
  await database.query(`
    create table stop_at (stage text);
    create function wait_at_stage() returns trigger language plpgsql as $$ begin
      if exists (select 1 from stop_at where stage = tg_argv[0]) then perform pg_advisory_xact_lock(${lockKey}); end if;
      return new; end $$`);
  for (const [index, [stage, event]] of Object.entries<string>(stages).entries()) {
    const each = event.includes("for each row") ? event : `${event} for each row`;
    await database.query(
      `create trigger wait_${index} ${each} execute function wait_at_stage(${pg.escapeLiteral(stage)})`,
    );
  }
  await database.query("select pg_advisory_lock($1)", [lockKey]);
  // Other tests may use the same server of PostgreSQL.
  const waiting = `pg_locks where locktype = 'advisory' and objid = $1 and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  return {
    async stopAt(stage) {
      await database.query("insert into stop_at values ($1)", [stage]);
    },
    async hasStopped(stage) {
      await until(`the server stops where ${stage}`, async () => {
        const { rows } = await database.query(`select 1 from ${waiting}`, [lockKey]);
        return rows.length > 0;
      });
    },
    async kill() {
      await server.kill();
      await database.query(`select pg_terminate_backend(pid) from ${waiting}`, [lockKey]);
      await database.query("delete from stop_at");
      await database.query(
        "update jobs set heartbeat_at = now() - interval '1 minute' where run_id is not null",
      );
    },
  };
}
