import { randomUUIDv7 } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { type Selectable, sql } from "kysely";
import type { z } from "zod";
import type { Erasure } from "../../contract/retention.ts";
import type { Principal } from "../access/principal.ts";
import { eraseFromAudit } from "../audit/erase.ts";
import { type AuditActor, recordAudit, serverItself } from "../audit/record.ts";
import type { Database, Tx } from "../db/database.ts";
import type { Erasures } from "../db/types.ts";
import { ProblemError } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Sealer } from "../links/sealer.ts";
import { removeFiles, removeRecording } from "../recordings/delete.ts";
import { isHeld } from "../recordings/delete-queries.ts";
import type { ObjectStore } from "../storage/store.ts";
import { eraseAccount } from "./erase-account.ts";
import { eraseFromRecording, eraseFromUploads } from "./erase-recording.ts";

type Receipt = z.output<typeof Erasure>["receipt"];
export type ErasureRow = Selectable<Erasures>;

const emptyReceipt: Receipt = {
  recordings_anonymised: 0,
  recordings_deleted: 0,
  segments_erased: 0,
  media_kept: [],
  held: [],
  uploads_changed: 0,
  account_erased: false,
  audit_entries_erased: 0,
};

/** Asks for a person to be forgotten; a job does it. An admin can't erase themselves, and not the last admin. */
export async function requestErasure(
  deps: { readonly db: Database; readonly jobs: JobQueue; readonly sealer: Sealer },
  principal: Principal,
  actor: AuditActor,
  input: { readonly email: string; readonly recordings: "anonymise" | "delete" },
): Promise<ErasureRow> {
  if (input.email.toLowerCase() === principal.emailKey)
    throw new ProblemError("wrong_state", "another admin has to erase your own data");
  const row = await deps.db.kysely.transaction().execute(async (tx) => {
    const row = await tx
      .insertInto("erasures")
      .values({
        id: randomUUIDv7(),
        workspace_id: principal.workspaceId,
        requested_by: principal.userId,
        email: deps.sealer.seal(input.email),
        recordings: input.recordings,
        receipt: JSON.stringify(emptyReceipt),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await recordAudit(tx, actor, {
      action: "person_erased",
      subject: { type: "erasure", id: row.id },
      details: { recordings: input.recordings },
    });
    await deps.jobs.enqueue(tx, "erase_person", { erasureId: row.id }, row.id);
    return row;
  });
  deps.jobs.wake();
  return row;
}

export async function findErasure(db: Database, workspaceId: string, id: string): Promise<ErasureRow> {
  const row = await db.kysely
    .selectFrom("erasures")
    .selectAll()
    .where("id", "=", id)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (row === undefined) throw new ProblemError("not_found", `there is no erasure ${id} in this workspace`);
  return row;
}

export function presentErasure(row: ErasureRow): z.output<typeof Erasure> {
  return {
    id: row.id,
    recordings: row.recordings as "anonymise" | "delete",
    status: row.state as "pending" | "running" | "done",
    created_datetime: row.created_at.toISOString(),
    finished_datetime: row.finished_at?.toISOString() ?? null,
    receipt: row.receipt as Receipt,
  };
}

interface JobDependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly sealer: Sealer;
  readonly log: FastifyBaseLogger;
}

/**
 * Forgets a person, one recording after the other, each in a transaction together with the receipt, so that it goes on
 * where it was when it is killed.
 */
export async function erasePersonJob(deps: JobDependencies, erasureId: string): Promise<void> {
  const { db, sealer } = deps;
  const erasure = await db.kysely
    .selectFrom("erasures")
    .selectAll()
    .where("id", "=", erasureId)
    .executeTakeFirst();
  if (erasure?.email == null) return;
  const email = sealer.open(erasure.email);
  // The account first: from then on the person can't add anything.
  await withReceipt(db, erasureId, async (tx, receipt) => {
    const isErased = await eraseAccount(tx, erasure.workspace_id, email);
    return { ...receipt, account_erased: receipt.account_erased || isErased };
  });
  for (;;) {
    const recordingId = await findNext(db, erasure, email);
    if (recordingId === undefined) break;
    await eraseOne(deps, erasure, recordingId, email);
  }
  await withReceipt(db, erasureId, async (tx, receipt) => {
    const uploads = await eraseFromUploads(tx, erasure.workspace_id, email, null);
    const entries = await eraseFromAudit(tx, { workspaceId: erasure.workspace_id, email });
    await tx
      .updateTable("erasures")
      .set({ state: "done", email: null, finished_at: sql<Date>`now()` })
      .where("id", "=", erasureId)
      .execute();
    return {
      ...receipt,
      uploads_changed: receipt.uploads_changed + uploads,
      audit_entries_erased: receipt.audit_entries_erased + entries,
    };
  });
}

/** The next recording with the person in it that was not dealt with yet. */
async function findNext(db: Database, erasure: ErasureRow, email: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select p.recording_id as id from participants p
    where p.workspace_id = ${erasure.workspace_id} and p.email_key = lower(${email})
      and not exists (
        select 1 from erasures e where e.id = ${erasure.id} and e.receipt -> 'held' ? p.recording_id::text)
    limit 1`.execute(db.kysely);
  return rows[0]?.id;
}

async function eraseOne(
  { db, store, log }: JobDependencies,
  erasure: ErasureRow,
  recordingId: string,
  email: string,
): Promise<void> {
  const recording = { id: recordingId, workspaceId: erasure.workspace_id };
  const removed = await withReceipt(db, erasure.id, async (tx, receipt, keep) => {
    const locked = await tx
      .selectFrom("recordings")
      .select("id")
      .where("id", "=", recordingId)
      .forUpdate()
      .executeTakeFirst();
    if (locked === undefined) return receipt;
    if (await isHeld(tx, recordingId)) return { ...receipt, held: [...receipt.held, recordingId] };
    if (erasure.recordings === "delete") {
      keep(await removeRecording(tx, serverItself(erasure.workspace_id), recordingId));
      return { ...receipt, recordings_deleted: receipt.recordings_deleted + 1 };
    }
    const { segments, hasMedia } = await eraseFromRecording(tx, recording, email);
    return {
      ...receipt,
      recordings_anonymised: receipt.recordings_anonymised + 1,
      segments_erased: receipt.segments_erased + segments,
      media_kept: hasMedia ? [...receipt.media_kept, recordingId] : receipt.media_kept,
    };
  });
  if (removed === undefined) return;
  const onError = (error: unknown) =>
    log.warn(
      { err: error, recordingId },
      "could not remove the files of a deleted recording; the sweep will",
    );
  await removeFiles({ store, onError }, recordingId, removed);
}

type Removed = Awaited<ReturnType<typeof removeRecording>>;

/** Does a step and writes it into the receipt, in one transaction. @returns what the step wants to keep. */
async function withReceipt(
  db: Database,
  erasureId: string,
  step: (tx: Tx, receipt: Receipt, keep: (removed: Removed) => void) => Promise<Receipt>,
): Promise<Removed | undefined> {
  return db.kysely.transaction().execute(async (tx) => {
    let kept: Removed | undefined;
    const row = await tx
      .updateTable("erasures")
      .set({ state: "running" })
      .where("id", "=", erasureId)
      .returning("receipt")
      .executeTakeFirstOrThrow();
    const receipt = await step(tx, row.receipt as Receipt, (removed) => {
      kept = removed;
    });
    await tx
      .updateTable("erasures")
      .set({ receipt: JSON.stringify(receipt) })
      .where("id", "=", erasureId)
      .execute();
    return kept;
  });
}
