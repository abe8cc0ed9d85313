import { createHash } from "node:crypto";
import { sql } from "kysely";
import type pg from "pg";
import { sentenceOf } from "../../../contract/sentences.ts";
import type { Tx } from "../../platform/db/database.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { notesPrefix } from "../../platform/storage/layout.ts";
import { ObjectExistsError, ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { insertRecordingDeliveries } from "../webhooks/deliveries/requeue.ts";
import { isPresent } from "./matching.ts";
import type { DestinationRow } from "./queries.ts";

interface Dependencies {
  readonly pool: pg.Pool;
  readonly store: ObjectStore;
}

interface WrittenFile {
  readonly key: string;
  readonly sha256: Buffer | null;
  readonly next_sha256: Buffer | null;
  readonly is_edited: boolean;
}

/** The file that a delivery keeps of a recording. */
export interface FileOwner {
  readonly hookId: string;
  readonly recordingId: string;
  readonly workspaceId: string;
}

/** Names that may be taken by files that Parley did not write. */
const maxNames = 50;

export function folderKey({ workspace_id, folder }: Pick<DestinationRow, "workspace_id" | "folder">): string {
  return `${notesPrefix}${workspace_id}/${folder === null || folder === "" ? "" : `${folder}/`}`;
}

const hashOf = (content: Buffer): Buffer => createHash("sha256").update(content).digest();

/**
 * Writes a recording's file, or replaces it. A file that a user changed, or that Parley didn't write, is left as it is, and
 * the next free name is taken. What is being written is saved first, so that a killed process continues.
 * @param path the key without its ending. @returns the key.
 */
export async function writeFile(
  deps: Dependencies,
  owner: FileOwner,
  path: string,
  text: string,
): Promise<string> {
  const content = Buffer.from(text);
  const hash = hashOf(content);
  const files = await findFiles(deps.pool, owner);
  const ours = await findOurs(deps, files);
  const current = ours.find(({ key }) => isNameOf(key, path)) ?? ours.at(-1);
  // What a rename or a test left behind when its process was killed.
  for (const file of ours) if (file !== current) await removeFile(deps, file);
  if (current !== undefined && isNameOf(current.key, path)) {
    const isWritten = current.sha256?.equals(hash) === true && (await deps.store.head(current.key)) !== null;
    if (!isWritten) {
      await deps.pool.query("update written_files set next_sha256 = $2 where key = $1", [current.key, hash]);
      await put(deps, current.key, content, false);
      await confirm(deps, current.key, hash);
    }
    return current.key;
  }
  const key = await writeNew(deps, owner, path, content, hash);
  // Only now, so that there is a file at any moment.
  if (current !== undefined) await removeFile(deps, current);
  return key;
}

/** The files that are still as they were written; those that were changed meanwhile are marked. */
async function findOurs(deps: Dependencies, files: readonly WrittenFile[]): Promise<WrittenFile[]> {
  const ours: WrittenFile[] = [];
  for (const file of files) {
    if (file.is_edited) continue;
    const found = await hashAt(deps.store, file.key);
    if (found === null || isOurs(file, found)) ours.push(file);
    // It was there before the first write, which therefore failed.
    else if (file.sha256 === null)
      await deps.pool.query("delete from written_files where key = $1", [file.key]);
    else await deps.pool.query("update written_files set is_edited = true where key = $1", [file.key]);
  }
  return ours;
}

/**
 * Writes a file and removes it, to try whether files can be written. It has a row meanwhile, so that what a killed process
 * leaves goes with the recording's file, or with the next one.
 * @param path the key without its ending. @returns the key.
 */
export async function tryFile(
  deps: Dependencies,
  owner: FileOwner,
  path: string,
  text: string,
): Promise<string> {
  const content = Buffer.from(text);
  const sha256 = hashOf(content);
  const key = await writeNew(deps, owner, path, content, sha256);
  await removeFile(deps, { key, sha256, next_sha256: null, is_edited: false });
  return key;
}

async function writeNew(
  deps: Dependencies,
  { hookId, recordingId, workspaceId }: FileOwner,
  path: string,
  content: Buffer,
  hash: Buffer,
): Promise<string> {
  for (let number = 1; number <= maxNames; number += 1) {
    const key = `${path}${number === 1 ? "" : `-${number}`}.md`;
    if ((await deps.store.head(key)) !== null) continue;
    const { rowCount } = await deps.pool.query(
      `insert into written_files (hook_id, recording_id, workspace_id, key, next_sha256)
       values ($1, $2, $3, $4, $5) on conflict do nothing`,
      [hookId, recordingId, workspaceId, key, hash],
    );
    if (rowCount === 0) continue;
    if (await put(deps, key, content, true)) {
      await confirm(deps, key, hash);
      return key;
    }
    await deps.pool.query("delete from written_files where key = $1", [key]);
  }
  throw new Error(sentenceOf("delivery_names_taken", { count: maxNames }));
}

/** @returns false: a new file's name is taken. */
async function put(
  { store }: Dependencies,
  key: string,
  content: Buffer,
  ifAbsent: boolean,
): Promise<boolean> {
  try {
    await store.put(key, content, { ifAbsent, contentType: "text/markdown; charset=utf-8" });
    return true;
  } catch (error) {
    if (error instanceof ObjectExistsError) return false;
    throw error;
  }
}

async function confirm({ pool }: Dependencies, key: string, hash: Buffer): Promise<void> {
  await pool.query(
    "update written_files set sha256 = $2, next_sha256 = null, written_at = clock_timestamp() where key = $1",
    [key, hash],
  );
}

/** Removes the files of a recording, also those that a user changed: it was deleted, or may no longer be seen. */
export async function removeFiles(deps: Dependencies, owner: FileOwner): Promise<number> {
  const files = await findFiles(deps.pool, owner);
  for (const file of files) await removeFile(deps, file);
  return files.length;
}

async function removeFile({ pool, store }: Dependencies, file: WrittenFile): Promise<void> {
  // A file that was never confirmed may be another's.
  const found = file.sha256 === null ? await hashAt(store, file.key) : null;
  if (found === null || isOurs(file, found)) await store.delete(file.key);
  await pool.query("delete from written_files where key = $1", [file.key]);
}

function isOurs({ sha256, next_sha256 }: WrittenFile, hash: Buffer): boolean {
  return sha256?.equals(hash) === true || next_sha256?.equals(hash) === true;
}

async function hashAt(store: ObjectStore, key: string): Promise<Buffer | null> {
  try {
    const { body } = await store.get(key);
    const hash = createHash("sha256");
    for await (const chunk of body) hash.update(chunk);
    return hash.digest();
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    throw error;
  }
}

/** Whether a key is the path with a number or none. */
function isNameOf(key: string, path: string): boolean {
  return key.startsWith(path) && /^(?:-\d+)?\.md$/.test(key.slice(path.length));
}

async function findFiles(pool: pg.Pool, { hookId, recordingId }: FileOwner): Promise<WrittenFile[]> {
  const { rows } = await pool.query<WrittenFile>(
    `select key, sha256, next_sha256, is_edited from written_files
     where hook_id = $1 and recording_id = $2 order by written_at, key`,
    [hookId, recordingId],
  );
  return rows;
}

/** Makes the files of a delivery follow what it says now. Their deliveries have no event. */
export async function rewriteFiles(tx: Tx, hookId: string): Promise<void> {
  const { rows } = await sql<{ recording_id: string }>`
    select distinct recording_id from written_files where hook_id = ${hookId}`.execute(tx);
  await insertRecordingDeliveries(
    tx,
    hookId,
    rows.map(({ recording_id }) => recording_id),
  );
}

/** Files removed in a run. */
const maxRemoved = 500;

/**
 * Removes the files of recordings that were deleted, or changed when personal data was erased, where no delivery does it: it was deleted or
 * disabled meanwhile. Files of a disabled one are written again once it is enabled.
 */
export const removeLeftFilesKind = defineRecurringJob({
  name: "remove_left_notes",
  label: (i18n) => i18n.t("Remove left notes"),
  every: "10 min",
  guard: "original",
  async handler({ db: { pool }, store }) {
    const { rows } = await pool.query<WrittenFile>(
      `select f.key, f.sha256, f.next_sha256, f.is_edited from written_files f
         left join hooks h on h.id = f.hook_id
         left join recordings r on r.id = f.recording_id
       where (h.id is null or h.disabled_at is not null) and (not ${isPresent} or (
         r.updated_at > f.written_at and exists (
           select 1 from erasures x where x.workspace_id = f.workspace_id and x.created_at > f.written_at - interval '1 day')))
       limit $1`,
      [maxRemoved],
    );
    for (const file of rows) await removeFile({ pool, store }, file);
  },
});
