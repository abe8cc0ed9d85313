import { sql } from "kysely";
import type { Executor, Tx } from "../../platform/db/database.ts";

type InstallStatus = "pending" | "running" | "done" | "failed";

/** A download of a model. */
export interface ModelInstall {
  readonly id: string;
  readonly name: string;
  readonly status: InstallStatus;
  readonly bytes_done: number;
  readonly error: string | null;
}

export async function listModelInstalls(db: Executor): Promise<ModelInstall[]> {
  const { rows } = await sql<ModelInstall>`
    select id, name, status, bytes_done::float8 as bytes_done, error from model_installs`.execute(db);
  return rows;
}

/** @returns undefined when it was cancelled. */
export async function findModelInstall(db: Executor, id: string): Promise<ModelInstall | undefined> {
  return (await listModelInstalls(db)).find((install) => install.id === id);
}

/** Requests a download, again after it ended. @returns whether it was not in progress already. */
export async function insertModelInstall(tx: Tx, id: string, name: string): Promise<boolean> {
  const { rows } = await sql`
    insert into model_installs (id, name) values (${id}, ${name})
    on conflict (name) do update set id = excluded.id, status = 'pending', bytes_done = 0, error = null,
      updated_at = clock_timestamp()
    where model_installs.status in ('done', 'failed')
    returning id`.execute(tx);
  return rows.length > 0;
}

/** @returns whether it still exists. */
export async function markModelInstall(
  db: Executor,
  id: string,
  status: InstallStatus,
  error: string | null,
): Promise<boolean> {
  const { rows } = await sql`
    update model_installs set status = ${status}, error = ${error}, updated_at = clock_timestamp()
    where id = ${id} returning id`.execute(db);
  return rows.length > 0;
}

/** @returns whether it still exists; otherwise it was cancelled. */
export async function saveInstallProgress(db: Executor, id: string, bytesDone: number): Promise<boolean> {
  const { rows } = await sql`
    update model_installs set bytes_done = ${bytesDone}, updated_at = clock_timestamp()
    where id = ${id} returning id`.execute(db);
  return rows.length > 0;
}

/** Cancels a download and removes its failure. @returns whether there was one. */
export async function deleteModelInstall(tx: Tx, name: string): Promise<boolean> {
  const { rows } = await sql`
    delete from model_installs where name = ${name} returning id`.execute(tx);
  return rows.length > 0;
}
