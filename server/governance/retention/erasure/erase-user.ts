import type { FastifyBaseLogger } from "fastify";
import { sql } from "kysely";
import { z } from "zod";
import { foldName } from "../../../../shared/fold-case.ts";
import { holdMembership } from "../../../people/access/grants.ts";
import { redactDeliveries } from "../../../people/events/delete.ts";
import { serverItself } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import { defineJob, type JobOwner } from "../../../platform/jobs/define.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import {
  type RemovedRows,
  removeFiles,
  removeRecording,
} from "../../../recordings/recordings/delete/delete.ts";
import { isHeld } from "../../../recordings/recordings/delete/queries.ts";
import { eraseFromAudit } from "../../audit/erase.ts";
import { type DataSubject, decryptDataSubject } from "./data-subject.ts";
import {
  eraseFromCalendars,
  eraseFromConnections,
  eraseFromJobs,
  eraseFromWatchedFiles,
} from "./erase-jobs.ts";
import { eraseFromRecording } from "./erase-recording.ts";
import { eraseFromUnfinished } from "./erase-uploads.ts";
import { eraseVoices, findNames } from "./erase-voices.ts";
import type { ErasureRow, Receipt } from "./erasures.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "languageModel" | "dataDir">;
  readonly log: Pick<FastifyBaseLogger, "warn">;
}

/** Recordings whose deliveries are redacted in one transaction. */
const batch = 50;

/**
 * Erases the data of a person whose account is already erased: uploads, then one recording after the other. Each step updates
 * the receipt in the same transaction, so that a killed job resumes where it stopped. Ends when nothing is left.
 */
export async function erasePersonJob(deps: Dependencies, erasureId: string): Promise<void> {
  const { db, encryptor } = deps;
  const erasure = await db.kysely
    .selectFrom("erasures")
    .selectAll()
    .where("id", "=", erasureId)
    .executeTakeFirst();
  if (erasure?.person == null) return;
  const subject: DataSubject = {
    ...decryptDataSubject(encryptor, erasure.person),
    workspaceId: erasure.workspace_id,
    userId: erasure.user_id,
  };
  await redactRecorded(db, subject);
  const knownNames = new Set<string>();
  for (;;) {
    // Before recordings: an upload promoted in the meantime is either redacted already or found as a recording.
    await eraseUploads(db, erasureId, subject);
    for (;;) {
      const recordingId = await findNext(db.kysely, erasureId, subject);
      if (recordingId === undefined) break;
      for (const name of await eraseOne(deps, erasure, subject, recordingId, knownNames))
        knownNames.add(name);
    }
    if (await finish(deps, erasureId, subject, knownNames)) return;
  }
}

/** Redacts deliveries of recordings the person recorded: payloads name the recorder, even if they did not attend. */
async function redactRecorded(db: Database, { userId }: DataSubject): Promise<void> {
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    if (userId === null) return;
    const rows = await db.kysely
      .selectFrom("recording_recorders")
      .select("recording_id")
      .where("user_id", "=", userId)
      .where("recording_id", ">", after)
      .orderBy("recording_id")
      .limit(batch)
      .execute();
    const ids = rows.map((row) => row.recording_id);
    const last = ids.at(-1);
    if (last === undefined) return;
    await db.kysely.transaction().execute((tx) => redactDeliveries(tx, ids, []));
    after = last;
  }
}

function eraseUploads(db: Database, erasureId: string, subject: DataSubject): Promise<boolean> {
  return withReceipt(db, erasureId, async (tx, receipt) => {
    const changed = await eraseFromUnfinished(tx, subject);
    const voices = await eraseVoices(tx, subject);
    return {
      ...receipt,
      uploads_changed: receipt.uploads_changed + changed,
      voice_profiles_erased: (receipt.voice_profiles_erased ?? 0) + voices,
    };
  });
}

/** The next recording with the person that is not on legal hold. */
async function findNext(
  db: Executor | Tx,
  erasureId: string,
  { workspaceId, email }: DataSubject,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select p.recording_id as id from participants p
    where p.workspace_id = ${workspaceId} and p.email_key = parley_lower(${email})
      and not exists (
        select 1 from erasures e where e.id = ${erasureId} and e.receipt -> 'held' ? p.recording_id::text)
    limit 1`.execute(db);
  return rows[0]?.id;
}

/**
 * Erases a person from one recording.
 * @param knownNames names of the person in earlier recordings.
 * @returns other names in this one.
 */
async function eraseOne(
  deps: Dependencies,
  erasure: ErasureRow,
  subject: DataSubject,
  recordingId: string,
  knownNames: ReadonlySet<string>,
): Promise<string[]> {
  const { db, store, log } = deps;
  let removed: RemovedRows | undefined;
  let newNames: string[] = [];
  await withReceipt(db, erasure.id, async (tx, before) => {
    removed = undefined;
    await holdMembership(tx, subject.workspaceId);
    const locked = await tx
      .selectFrom("recordings")
      .select("id")
      .where("id", "=", recordingId)
      .forUpdate()
      .executeTakeFirst();
    if (locked === undefined) return before;
    // Voice profiles are found by these names, even if the recording is deleted or on legal hold.
    const here = await findNames(tx, [recordingId], subject.email);
    const names = [...subject.names, ...here];
    newNames = here.map(foldName).filter((name) => !knownNames.has(name));
    // Reads all files that failed, so once for each name.
    if (newNames.length > 0) await eraseFromWatchedFiles(tx, { ...subject, names: newNames });
    const voices = await eraseVoices(tx, { ...subject, names });
    const receipt = { ...before, voice_profiles_erased: (before.voice_profiles_erased ?? 0) + voices };
    if (await isHeld(tx, recordingId)) return { ...receipt, held: [...receipt.held, recordingId] };
    if (erasure.recordings === "delete") {
      removed = await removeRecording(tx, serverItself(subject.workspaceId), recordingId);
      return { ...receipt, recordings_deleted: receipt.recordings_deleted + 1 };
    }
    const erased = await eraseFromRecording(tx, deps, recordingId, subject);
    if (erased === null) return receipt;
    return {
      ...receipt,
      recordings_anonymised: receipt.recordings_anonymised + 1,
      segments_erased: receipt.segments_erased + erased.segments,
      uploads_changed: receipt.uploads_changed + erased.uploads,
      media_kept: erased.hasMedia ? [...receipt.media_kept, recordingId] : receipt.media_kept,
      unknown_speakers: erased.hasUnknownSpeakers
        ? [...receipt.unknown_speakers, recordingId]
        : receipt.unknown_speakers,
    };
  });
  deps.jobs.wake();
  if (removed === undefined) return newNames;
  const onError = (error: unknown) =>
    log.warn(
      { err: error, recordingId },
      "could not remove the files of a deleted recording; the sweep will",
    );
  await removeFiles({ db, store, onError }, recordingId, removed);
  return newNames;
}

/** The last step. @returns false when new data was added in the meantime, which must be erased first. */
function finish(
  { db, encryptor }: Dependencies,
  erasureId: string,
  subject: DataSubject,
  knownNames: ReadonlySet<string>,
): Promise<boolean> {
  return db.kysely.transaction().execute(async (tx) => {
    const receipt = await lockReceipt(tx, erasureId);
    if (receipt === null) return true;
    const uploads = await eraseFromUnfinished(tx, subject);
    if (uploads > 0 || (await findNext(tx, erasureId, subject)) !== undefined) {
      const uploads_changed = receipt.uploads_changed + uploads;
      await writeReceipt(tx, erasureId, { ...receipt, uploads_changed });
      return false;
    }
    await eraseFromJobs(tx, encryptor, subject.email);
    await eraseFromConnections(tx, encryptor, subject);
    await eraseFromCalendars(tx, subject);
    // Files and profiles of the meantime too.
    const names = [...subject.names, ...knownNames, ...(await findNames(tx, receipt.held, subject.email))];
    await eraseFromWatchedFiles(tx, { ...subject, names });
    // Late, because it keeps the audit log from being sealed until the transaction ends.
    const entries = await eraseFromAudit(tx, subject);
    const voices = await eraseVoices(tx, { ...subject, names });
    await writeReceipt(tx, erasureId, {
      ...receipt,
      audit_entries_erased: entries,
      voice_profiles_erased: (receipt.voice_profiles_erased ?? 0) + voices,
    });
    await tx
      .updateTable("erasures")
      .set({ state: "done", person: null, finished_at: sql<Date>`now()` })
      .where("id", "=", erasureId)
      .execute();
    return true;
  });
}

/**
 * Runs a step and updates the receipt in one transaction; does nothing when the erasure is finished.
 * @returns whether the step ran.
 */
async function withReceipt(
  db: Database,
  erasureId: string,
  step: (tx: Tx, receipt: Receipt) => Promise<Receipt>,
): Promise<boolean> {
  return db.kysely.transaction().execute(async (tx) => {
    const receipt = await lockReceipt(tx, erasureId);
    if (receipt === null) return false;
    await writeReceipt(tx, erasureId, await step(tx, receipt));
    return true;
  });
}

async function writeReceipt(tx: Tx, erasureId: string, receipt: Receipt): Promise<void> {
  await tx
    .updateTable("erasures")
    .set({ state: "running", receipt: JSON.stringify(receipt) })
    .where("id", "=", erasureId)
    .execute();
}

/** @returns null when another worker has finished the erasure. */
async function lockReceipt(tx: Tx, erasureId: string): Promise<Receipt | null> {
  const row = await tx
    .selectFrom("erasures")
    .select("receipt")
    .where("id", "=", erasureId)
    .where("person", "is not", null)
    .forUpdate()
    .executeTakeFirst();
  return row === undefined ? null : (row.receipt as Receipt);
}

const payload = z.object({ erasureId: z.string() });

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    erase_personal_data: z.infer<typeof payload>;
  }
}

export const erasePersonalDataKind = defineJob({
  name: "erase_personal_data",
  label: (i18n) => i18n.t("Erase personal data"),
  schema: payload,
  subject: "personal_data_erasure",
  owner: ({ erasureId }) => sql<JobOwner>`
    select workspace_id, workspace_id as user_id from erasures where id = ${erasureId}`,
  concurrency: 1,
  discard: "a personal-data erasure can't be discarded, because it must be completed; retry it",
  handler: (deps, { erasureId }) => erasePersonJob(deps, erasureId),
});
