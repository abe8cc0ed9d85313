import pg from "pg";
import type { Connection } from "../../server/platform/db/embedded/index.ts";
import * as batch from "./batch.ts";

/**
 * Fills an empty migrated database by the million, and leaves it vacuumed and analyzed.
 * @param fill uses a connection with the settings and temporary functions for it.
 */
export async function fillInBulk(
  connection: Connection,
  say: (text: string) => void,
  fill: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    // Foreign keys hold by construction; checking them for each of millions of rows would take minutes.
    await client.query("set session_replication_role = replica; set synchronous_commit = off; set jit = off");
    // But keys are written by triggers.
    for (const table of ["users", "participants"])
      await client.query(`alter table ${table} enable always trigger email_key`);
    await client.query("set work_mem = '256MB'; set maintenance_work_mem = '1GB'");
    await client.query("alter system set max_wal_size = '8GB'");
    await client.query("select pg_reload_conf()");
    await client.query(batch.helpers);
    await fill(client);
    say("vacuum analyze");
    await client.query("vacuum analyze");
    for (const table of ["users", "participants"])
      await client.query(`alter table ${table} enable trigger email_key`);
    await client.query("alter system reset max_wal_size");
    await client.query("select pg_reload_conf()");
    await client.query("checkpoint");
  } finally {
    await client.end();
  }
}
