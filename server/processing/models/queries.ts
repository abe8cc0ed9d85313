import { sql } from "kysely";
import type { Executor, Tx } from "../../platform/db/database.ts";

type InstallStatus = "pending" | "running" | "done" | "failed";

/** An installation of a model. */
export interface ModelInstall {
  readonly id: string;
  readonly name: string;
  /** Of a file on the server's machine; null: the model is downloaded. */
  readonly path: string | null;
  readonly status: InstallStatus;
  readonly bytes_done: number;
  /** Null: not known yet. */
  readonly bytes_total: number | null;
  readonly error: string | null;
}

export async function listModelInstalls(db: Executor): Promise<ModelInstall[]> {
  const { rows } = await sql<ModelInstall>`
    select id, name, path, status, bytes_done::float8 as bytes_done, bytes_total::float8 as bytes_total, error
    from model_installs order by name`.execute(db);
  return rows;
}

/** @returns undefined when it was cancelled. */
export async function findModelInstall(db: Executor, id: string): Promise<ModelInstall | undefined> {
  return (await listModelInstalls(db)).find((install) => install.id === id);
}

/** Requests an installation, again after it ended. @returns whether it was not in progress already. */
export async function insertModelInstall(
  tx: Tx,
  id: string,
  { name, path }: { readonly name: string; readonly path: string | null },
): Promise<boolean> {
  const { rows } = await sql`
    insert into model_installs (id, name, path) values (${id}, ${name}, ${path})
    on conflict (name) do update set id = excluded.id, path = excluded.path, status = 'pending', bytes_done = 0,
      bytes_total = null, error = null, updated_at = clock_timestamp()
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
export async function saveInstallProgress(
  db: Executor,
  id: string,
  { bytesDone, bytesTotal }: { readonly bytesDone: number; readonly bytesTotal: number | null },
): Promise<boolean> {
  const { rows } = await sql`
    update model_installs set bytes_done = ${bytesDone}, bytes_total = ${bytesTotal}, updated_at = clock_timestamp()
    where id = ${id} returning id`.execute(db);
  return rows.length > 0;
}

/** Cancels an installation and removes its failure. @returns whether there was one. */
export async function deleteModelInstall(tx: Tx, name: string): Promise<boolean> {
  const { rows } = await sql`
    delete from model_installs where name = ${name} returning id`.execute(tx);
  return rows.length > 0;
}
