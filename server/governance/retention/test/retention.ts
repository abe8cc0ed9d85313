import { call, type TestApp } from "../../../../test/support/app.ts";
import { makeRecording } from "../../../../test/support/factories.ts";

/** Calls the management API, which has no versions. */
export const manage = (app: TestApp, method: string, path: string, token: string | null, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

/** A recording that started and was added this many days ago. */
export async function makeOld(
  app: TestApp,
  token: string,
  days: number,
  attributes: Record<string, unknown> = {},
): Promise<string> {
  const { recordingId } = await makeRecording(app, token, {
    start_datetime: new Date(Date.now() - days * 86_400_000).toISOString(),
    ...attributes,
  });
  await settled(app, recordingId);
  await app.db.pool.query("update recordings set created_at = now() - interval '2 days' where id = $1", [
    recordingId,
  ]);
  return recordingId;
}

/** Checks that the upload of the recording is finished. */
async function settled(app: TestApp, recordingId: string): Promise<void> {
  const { rows } = await app.db.pool.query("select status from uploads where recording_id = $1", [
    recordingId,
  ]);
  if (rows[0]?.status !== "success") throw new Error("a recording comes with the success of its upload");
}

export async function exists(app: TestApp, recordingId: string): Promise<boolean> {
  const { rows } = await app.db.pool.query("select 1 from recordings where id = $1", [recordingId]);
  return rows.length > 0;
}

export async function filesBelow(app: TestApp, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of app.store.list(prefix)) keys.push(key);
  return keys;
}

/** Every row of every table as text; bytes come as hexadecimal. */
export async function dumpDatabase(app: TestApp): Promise<string> {
  const { pool } = app.db;
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  if (tables.length < 30) throw new Error("the tables were not found");
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string }>(`select t::text as text from ${name} t`);
    texts.push(...rows.map(({ text }) => `${name}: ${text}`));
  }
  return texts.join("\n");
}
