import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { sentences } from "../../../../contract/sentences.ts";
import { serverItself } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database } from "../../../platform/db/database.ts";
import { cleanId } from "../sources/clean-text.ts";
import { ImportError, WaitError } from "../sources/errors.ts";
import type { ImportSource, SourceItem, SourceRecording } from "../sources/source.ts";
import { convert } from "./convert.ts";
import { type Directory, openDirectory } from "./directory.ts";
import { failUpload, type ImportDependencies, importOne, reasonOf, workspaceImporter } from "./import-one.ts";
import {
  adoptPending,
  beginRun,
  endInterrupted,
  endRun,
  failItem,
  findItem,
  findResult,
  findRun,
  type ImportRunRow,
  omittedPrefix,
  type RunResult,
  refreshItems,
  saveItem,
} from "./queries.ts";

export type RunDependencies = ImportDependencies;

export interface RunOptions {
  readonly onProgress?: (progress: { phase: string; total: number; done: number }) => void;
  /** Ends the run early; it can be continued. */
  readonly signal?: AbortSignal;
  /** Whether to throw a WaitError while another process imports the same source, rather than to wait. */
  readonly refusesToWait?: boolean;
}

/** Recordings that are read and sent at a time. */
const concurrency = 4;

/** No more are sent while so many wait to become recordings, which bounds the storage that uploads take. */
const maxPending = 16;

/** How often the database is asked what has become of the uploads. */
const pollMs = 250;

/** After this long it is checked again whether another import of the source has ended. */
const lockWaitMs = 30_000;

/** How often a broken download is repeated. */
const maxAttempts = 4;

/** Everything one run works with. */
interface Run {
  readonly row: ImportRunRow;
  readonly source: ImportSource;
  readonly sourceKey: string;
  readonly principal: Principal;
  readonly directory: Directory;
  readonly options: RunOptions;
  /** What a dry run finds that an import would leave out, by code as the run's counts have it. */
  readonly omitted: Map<string, number>;
}

/**
 * Imports the recordings of a source. What was imported by an earlier run of the same source, also one that was killed,
 * is skipped, so a run may be repeated at any time.
 * @throws ImportError when the source can't be read; what was imported stays. WaitError when it has to be waited for.
 */
export async function runImport(
  deps: RunDependencies,
  row: ImportRunRow,
  source: ImportSource,
  options: RunOptions = {},
): Promise<RunResult> {
  const { db } = deps;
  const sourceKey = `${source.kind}:${source.origin}`;
  const lock = { row, name: `${row.workspace_id} ${sourceKey}`, options };
  return exclusively(db, lock, async () => {
    await endInterrupted(db.kysely, row);
    const principal = workspaceImporter({
      workspaceId: row.workspace_id,
      userId: row.created_by,
      tokenId: row.id,
    });
    const directory = await openDirectory(db, principal, serverItself(row.workspace_id), {
      creates: !row.is_dry_run,
    });
    const run: Run = { row, source, sourceKey, principal, directory, options, omitted: new Map() };
    if (!row.is_dry_run) await adoptPending(db.kysely, row, sourceKey);
    // A run that is resumed has counted before.
    const isResumed = row.state === "running" && !row.is_dry_run;
    const counts = isResumed ? (row.counts as Record<string, number>) : await count(db, run);
    await beginRun(db.kysely, row.id, counts);
    await sendAll(deps, run, counts.recordings ?? 0);
    if (row.is_dry_run) await beginRun(db.kysely, row.id, { ...counts, ...Object.fromEntries(run.omitted) });
    else while ((await refreshItems(db.kysely, row.id)) > 0) await pause(deps, run);
    await db.kysely.transaction().execute((tx) => endRun(tx, row.id, "done"));
    return findResult(db.kysely, row.id);
  });
}

/** Counts the recordings of the source, and the users there who exist here. */
async function count(db: Database, run: Run): Promise<Record<string, number>> {
  const counts: Record<string, number> = { recordings: 0, video: 0, audio: 0, transcript: 0, existing: 0 };
  const add = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  for await (const item of run.source.list()) {
    run.options.signal?.throwIfAborted();
    add("recordings");
    add(item.mediaType);
    const known = await findItem(db.kysely, run.row.workspace_id, run.sourceKey, cleanId(item.oldId));
    if (known?.state === "done" && known.run_id !== run.row.id) add("existing");
    run.options.onProgress?.({ phase: "count", total: counts.recordings ?? 0, done: counts.recordings ?? 0 });
  }
  const emails = await run.source.emails();
  for (const email of emails ?? [])
    add(run.directory.userId(email) === null ? "users_unknown" : "users_matched");
  return counts;
}

async function sendAll(deps: RunDependencies, run: Run, total: number): Promise<void> {
  const items = run.source.list()[Symbol.asyncIterator]();
  let [done, isOver] = [0, false];
  const work = async (): Promise<void> => {
    while (!isOver) {
      const { value: item, done: isLast } = await items.next();
      if (isLast) return;
      while ((await refreshItems(deps.db.kysely, run.row.id)) >= maxPending) await pause(deps, run);
      run.options.signal?.throwIfAborted();
      await sendItem(deps, run, item);
      done += 1;
      run.options.onProgress?.({ phase: run.row.is_dry_run ? "check" : "import", total, done });
    }
  };
  const results = await Promise.allSettled(
    Array.from({ length: concurrency }, () =>
      work().catch((error: Error) => {
        isOver = true;
        throw error;
      }),
    ),
  );
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** Waits for uploads to become recordings. @throws ImportError when the run was canceled. */
async function pause({ db }: RunDependencies, { row, options }: Run): Promise<void> {
  await wait(pollMs, undefined, options.signal === undefined ? {} : { signal: options.signal });
  await refuseCanceled(db, row.id);
}

async function sendItem(deps: RunDependencies, run: Run, item: SourceItem): Promise<void> {
  const { db } = deps;
  const { row, sourceKey } = run;
  const key = { workspaceId: row.workspace_id, sourceKey, oldId: cleanId(item.oldId), runId: row.id };
  await refuseCanceled(db, row.id);
  const known = await findItem(db.kysely, row.workspace_id, sourceKey, key.oldId);
  if (known?.state === "done") return;
  const isUnderway = known?.upload_status != null && !["awaiting", "failure"].includes(known.upload_status);
  try {
    if (known?.state === "pending" && (isUnderway || row.is_dry_run)) return;
    if (row.is_dry_run) return await checkItem(run, await item.load());
    const externalId = known?.external_id ?? externalIdOf(sourceKey, key.oldId);
    await importItem(deps, run, key, externalId, await item.load());
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    await failItem(db.kysely, key, reason);
  }
}

/**
 * Does what an import does with a recording except for writing it, so that a dry run counts what can't be imported. Media
 * files of this machine are opened; those of a service are not requested.
 */
async function checkItem(run: Run, source: SourceRecording): Promise<void> {
  const { row, directory, omitted } = run;
  const media = run.source.isLocal ? await source.openMedia?.() : null;
  media?.body.destroy();
  const stated = source.recording.media_type;
  const found = await convert(
    source,
    "checked",
    media ?? (stated === "transcript" ? null : { format: stated === "audio" ? "mp3" : "mp4" }),
    { directory, importerId: row.created_by },
  );
  for (const [code, count] of Object.entries(found.omitted))
    omitted.set(`${omittedPrefix}${code}`, (omitted.get(`${omittedPrefix}${code}`) ?? 0) + count);
}

async function importItem(
  deps: RunDependencies,
  run: Run,
  key: Parameters<typeof failItem>[1],
  externalId: string,
  source: SourceRecording,
): Promise<void> {
  let uploadId: string | null = null;
  try {
    await importOne(deps, {
      ...{ principal: run.principal, directory: run.directory, importerId: run.row.created_by },
      ...{ externalId, source, maxAttempts },
      onCreated: async (upload, omitted) => {
        uploadId = upload.id;
        await saveItem(deps.db, key, upload.id, omitted);
      },
    });
  } catch (error) {
    const reason = reasonOf(error);
    // An import whose file doesn't arrive must not wait for it for a day.
    if (uploadId !== null && reason !== null) await failUpload(deps, uploadId, reason);
    throw error;
  }
}

/** Fits the limit of external ids, however long the URL of the source is. */
function externalIdOf(sourceKey: string, oldId: string): string {
  const id = `${sourceKey} ${oldId}`;
  return id.length <= 200 ? id : `sha256 ${createHash("sha256").update(id).digest("hex")}`;
}

/** A run that was canceled sends nothing more. */
async function refuseCanceled(db: Database, runId: string): Promise<void> {
  const run = await findRun(db.kysely, runId);
  if (run?.state === "canceled") throw new ImportError(sentences.import_canceled);
}

/**
 * Runs work while no other process imports the same source into the same workspace. The advisory lock belongs to a session
 * of its own, past a pooler, and ends with it, so a killed process blocks no later one.
 * @throws ImportError when the run is canceled while it waits.
 */
async function exclusively<T>(
  db: Database,
  { row, name, options }: { row: ImportRunRow; name: string; options: RunOptions },
  work: () => Promise<T>,
): Promise<T> {
  const { signal } = options;
  const client = new pg.Client(db.session);
  // With its connection the lock is lost, but not the work.
  client.on("error", () => {});
  try {
    await client.connect();
    for (;;) {
      signal?.throwIfAborted();
      const { rows } = await client.query<{ locked: boolean }>(
        "select pg_try_advisory_lock(hashtextextended($1, 0)) as locked",
        [`parley import ${name}`],
      );
      if (rows[0]?.locked) break;
      if (options.refusesToWait) throw new WaitError(lockWaitMs);
      await refuseCanceled(db, row.id);
      await wait(pollMs, undefined, signal === undefined ? {} : { signal });
    }
    return await work();
  } finally {
    await client.end().catch(() => {});
  }
}
