import { addAbortSignal } from "node:stream";
import type { FastifyBaseLogger } from "fastify";
import { sql } from "kysely";
import { z } from "zod";
import type { Database } from "../../platform/db/database.ts";
import { defineRecurringJob, type RunContext } from "../../platform/jobs/define.ts";
import { recordingsPrefix } from "../../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { type FileFingerprint, fingerprintOf, recordStoredFiles, type StoredFile } from "./stored-files.ts";

/** What can be wrong with a stored file. */
export type Damage = "missing" | "unreadable" | "size" | "content";

/** A file that is not what it was when it was written. */
export interface DamagedFile {
  readonly key: string;
  readonly recordingId: string;
  readonly damage: Damage;
}

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  /** Stops reading; the file counts as not checked. */
  readonly signal?: AbortSignal;
}

interface FileRow {
  readonly key: string;
  readonly recording_id: string;
  readonly bytes: string;
  readonly sha256: Buffer;
  readonly previous: Date;
}

/** Damage in words for a log line or a terminal. */
export const damageWords: Readonly<Record<Damage, string>> = {
  missing: "it is not in the store",
  unreadable: "the store can't read it",
  size: "its size differs from the size it was written with",
  content: "its content differs from what was written",
};

/**
 * Checks the file that was checked the longest ago.
 * @param before only a file whose last check was before this time.
 * @returns the key and what is wrong; null when no file is due.
 * @throws the store's error when the store as a whole can't be used; the file stays due.
 */
export async function checkNextFile(
  deps: Dependencies,
  before: Date,
): Promise<{ readonly key: string; readonly bytes: number; readonly damaged: DamagedFile | null } | null> {
  const { kysely } = deps.db;
  // Claimed first, so that several workers check different files.
  const { rows } = await sql<FileRow>`
    update stored_files s set checked_at = now()
    from (
      select key, checked_at from stored_files where checked_at < ${before}
      order by checked_at, key limit 1 for update skip locked) as due
    where s.key = due.key
    returning s.key, s.recording_id, s.bytes, s.sha256, due.checked_at as previous`.execute(kysely);
  const [row] = rows;
  if (row === undefined) return null;
  const damage = await findDamage(deps, row).catch(async (error: unknown) => {
    await sql`update stored_files set checked_at = ${row.previous} where key = ${row.key}`.execute(kysely);
    throw error;
  });
  const { rows: still } = await sql`
    update stored_files set damage = ${damage} where key = ${row.key} returning key`.execute(kysely);
  // Without a row, the recording was deleted in the meantime, and its files with it.
  const isDamaged = damage !== null && still.length > 0;
  return {
    key: row.key,
    bytes: Number(row.bytes),
    damaged: isDamaged ? { key: row.key, recordingId: row.recording_id, damage } : null,
  };
}

async function findDamage(deps: Dependencies, row: FileRow): Promise<Damage | null> {
  const found = await readFingerprint(deps, row.key, Number(row.bytes));
  if (typeof found === "string") return found;
  return found.sha256.equals(row.sha256) ? null : "content";
}

/**
 * Reads a file of the store.
 * @param expectedBytes a file of another size is not read.
 * @returns its fingerprint, or why there is none.
 * @throws the error of a store that can't be used at all, which says nothing about the file.
 */
async function readFingerprint(
  { store, signal }: Dependencies,
  key: string,
  expectedBytes?: number,
): Promise<FileFingerprint | Exclude<Damage, "content">> {
  try {
    const { info, body } = await store.get(key);
    if (signal !== undefined) addAbortSignal(signal, body);
    if (expectedBytes !== undefined && info.size !== expectedBytes) {
      body.destroy();
      return "size";
    }
    return await fingerprintOf(body);
  } catch (error) {
    if (error instanceof ObjectMissingError) return "missing";
    if (signal?.aborted) throw error;
    // A bad sector, for instance; an unreachable store fails the probe as well.
    await store.probe().catch(() => Promise.reject(error));
    return "unreadable";
  }
}

/** Each file is read once in this time. */
const roundMs = 30 * 86_400_000;

/** The share of time spent on checking is one in this many, so that it does not slow down other work. */
const timeShare = 50;

/** One call works for about this long. */
const budgetMs = 2000;

/** How often to look for recordings without fingerprints: only those of older versions have none. */
const unknownEveryMs = 86_400_000;

/** Where the search for recordings without fingerprints is, and when it was at its end. */
const progress = z.object({ after: z.string().nullable().optional(), foundAllAt: z.number().optional() });

/** Reads some files and pauses. Recordings from before fingerprints were stored get theirs. */
export const checkFilesKind = defineRecurringJob({
  name: "check_files",
  label: (i18n) => i18n.t("Check files"),
  every: "sweep",
  schema: progress,
  async handler(context, state) {
    const began = performance.now();
    const isOver = (): boolean => performance.now() - began >= budgetMs || context.signal.aborted;
    // First, since quotas count the stored sizes.
    const next = await recordSomeUnknown(context, state, isOver);
    await checkSome(context, isOver);
    return { pauseMs: (performance.now() - began) * timeShare, state: next };
  },
});

/** Checks files that are due while there is time. */
async function checkSome(
  deps: Dependencies & { readonly log: Pick<FastifyBaseLogger, "error"> },
  isOver: () => boolean,
): Promise<void> {
  const before = new Date(Date.now() - roundMs);
  try {
    while (!isOver()) {
      const checked = await checkNextFile(deps, before);
      if (checked === null) return;
      if (checked.damaged !== null) report(deps.log, checked.damaged);
    }
  } catch (error) {
    if (!deps.signal?.aborted) throw error;
  }
}

async function recordSomeUnknown(
  deps: RunContext,
  { after = firstId, foundAllAt = 0 }: z.infer<typeof progress>,
  isOver: () => boolean,
): Promise<z.infer<typeof progress>> {
  let position = after;
  if (position === null && Date.now() - foundAllAt < unknownEveryMs) return { after: null, foundAllAt };
  while (!isOver()) {
    const recorded = await recordNextUnknown(deps, position ?? firstId);
    if (recorded === null) return { after: null, foundAllAt: Date.now() };
    position = recorded.recordingId;
    for (const damaged of recorded.damaged) report(deps.log, damaged);
  }
  return { after: position, foundAllAt };
}

function report(log: Pick<FastifyBaseLogger, "error">, { key, recordingId, damage }: DamagedFile): void {
  log.error(
    { key, recordingId, damage },
    `a stored file is damaged: ${damageWords[damage]}. Restore it from a backup; \`parley files verify\` lists all`,
  );
}

/** How many files there are to verify, and their bytes. */
export async function countStoredFiles({
  db,
}: Pick<Dependencies, "db">): Promise<{ files: number; bytes: number }> {
  const { rows } = await sql<{ files: string; bytes: string }>`
    select count(*) as files, coalesce(sum(bytes), 0) as bytes from stored_files`.execute(db.kysely);
  return { files: Number(rows[0]?.files), bytes: Number(rows[0]?.bytes) };
}

/**
 * Checks every file once. Files of recordings from before fingerprints were stored get theirs now.
 * @param onFile notified of each file, as it was checked.
 * @returns the damaged ones, by key.
 */
export async function verifyFiles(
  deps: Dependencies,
  onFile: (bytes: number) => void = () => {},
): Promise<DamagedFile[]> {
  const damaged: DamagedFile[] = [];
  for (let after = firstId; ; ) {
    const recorded = await recordNextUnknown(deps, after);
    if (recorded === null) break;
    damaged.push(...recorded.damaged);
    after = recorded.recordingId;
  }
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(deps.db.kysely);
  const began = rows[0]?.now ?? new Date();
  for (;;) {
    const checked = await checkNextFile(deps, began);
    if (checked === null) break;
    onFile(checked.bytes);
    if (checked.damaged !== null) damaged.push(checked.damaged);
  }
  return damaged.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Before every id. */
const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Stores fingerprints for the next recording whose media file has none, by id. Its files that have one keep it.
 * @returns the files that none can be taken of; null when there is no such recording.
 */
async function recordNextUnknown(
  deps: Dependencies,
  after: string,
): Promise<{ readonly recordingId: string; readonly damaged: readonly DamagedFile[] } | null> {
  const { kysely } = deps.db;
  const { rows } = await sql<{ recording_id: string; media_key: string }>`
    select recording_id, media_key
    from recording_media m,
      lateral (select ${recordingsPrefix} || m.recording_id || '/media.' || m.format as media_key) as keys
    where recording_id > ${after} and not exists (select 1 from stored_files f where f.key = media_key)
    order by recording_id limit 1`.execute(kysely);
  const [row] = rows;
  if (row === undefined) return null;
  const { recording_id: recordingId, media_key: mediaKey } = row;
  const { rows: known } = await sql<{ key: string }>`
    select key from stored_files where recording_id = ${recordingId}`.execute(kysely);
  const wanted = new Set([mediaKey]);
  const prefix = `${recordingsPrefix}${recordingId}/`;
  for await (const { key } of deps.store.list(prefix))
    if (!key.startsWith(`${prefix}clips/`)) wanted.add(key);
  for (const { key } of known) wanted.delete(key);
  const files: StoredFile[] = [];
  const damaged: DamagedFile[] = [];
  for (const key of wanted) {
    const found = await readFingerprint(deps, key);
    if (typeof found === "string") damaged.push({ key, recordingId, damage: found });
    else files.push({ key, ...found });
  }
  const isThere = await kysely.transaction().execute(async (tx) => {
    const { rows: recordings } = await sql`
      select 1 from recordings where id = ${recordingId} for key share`.execute(tx);
    if (recordings.length > 0) await recordStoredFiles(tx, { recordingId }, files);
    return recordings.length > 0;
  });
  // Without a recording, it was deleted in the meantime, and its files with it.
  return { recordingId, damaged: isThere ? damaged : [] };
}
