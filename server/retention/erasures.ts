import { randomUUIDv7 } from "node:crypto";
import { type Selectable, sql } from "kysely";
import type { z } from "zod";
import type { Erasure } from "../../contract/erasures.ts";
import type { Principal } from "../access/principal.ts";
import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Database } from "../db/database.ts";
import { transactWithRetry } from "../db/retry.ts";
import type { Erasures } from "../db/types.ts";
import type { Position } from "../http/cursor.ts";
import { ProblemError } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Sealer } from "../links/sealer.ts";
import { eraseAccount } from "./erase-account.ts";
import { sealPerson } from "./person.ts";

/** What was done so far. */
export type Receipt = z.output<typeof Erasure>["receipt"];
export type ErasureRow = Selectable<Erasures>;

const emptyReceipt: Receipt = {
  recordings_anonymised: 0,
  recordings_deleted: 0,
  segments_erased: 0,
  media_kept: [],
  unknown_speakers: [],
  held: [],
  uploads_changed: 0,
  account_erased: false,
  audit_entries_erased: 0,
};

/**
 * Forgets a person: their account at once, so that they can't add anything from then on, the rest in a job.
 * @throws ProblemError `wrong_state` for the caller themselves and for the last active admin.
 */
export async function requestErasure(
  deps: { readonly db: Database; readonly jobs: JobQueue; readonly sealer: Sealer },
  principal: Principal,
  actor: AuditActor,
  input: { readonly email: string; readonly recordings: "anonymise" | "delete" },
): Promise<ErasureRow> {
  const { db, jobs, sealer } = deps;
  const { workspaceId } = principal;
  const { email, recordings } = input;
  if (isOneself(principal, email)) throw new ProblemError("wrong_state", oneself);
  const row = await transactWithRetry(db, async (tx) => {
    const account = await eraseAccount(tx, workspaceId, email);
    const row = await tx
      .insertInto("erasures")
      .values({
        id: randomUUIDv7(),
        workspace_id: workspaceId,
        requested_by: principal.userId,
        user_id: account?.id ?? null,
        person: sealPerson(sealer, { email, names: account === null ? [] : [account.name] }),
        recordings,
        receipt: JSON.stringify({ ...emptyReceipt, account_erased: account !== null }),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await recordAudit(tx, actor, {
      action: "person_erased",
      subject: { type: "erasure", id: row.id },
      details: { recordings },
    });
    await jobs.enqueue(tx, "erase_person", { erasureId: row.id }, row.id);
    return row;
  });
  jobs.wake();
  return row;
}

/** What an admin is told who would erase themselves. */
export const oneself = "another admin has to erase your own data";

export function isOneself({ emailKey }: Principal, email: string): boolean {
  return email.toLowerCase() === emailKey;
}

/** A page of them, newest first. @param after the last one of the page before. */
export function findErasures(
  db: Database,
  workspaceId: string,
  page: { readonly after: Position | null; readonly limit: number },
): Promise<ErasureRow[]> {
  const { after, limit } = page;
  return db.kysely
    .selectFrom("erasures")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .$if(after !== null, (select) =>
      select.where(sql<boolean>`(created_at, id) < (${after?.at}::timestamptz, ${after?.id}::uuid)`),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
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
