import { randomUUIDv7 } from "node:crypto";
import { type Selectable, sql } from "kysely";
import type { z } from "zod";
import { because } from "../../../../contract/causes/causes.ts";
import type { Erasure } from "../../../../contract/governance/erasures.ts";
import { foldCase } from "../../../../shared/fold-case.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { transactWithRetry } from "../../../platform/db/retry.ts";
import type { Erasures } from "../../../platform/db/types.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import type { PageQuery, Position } from "../../../platform/http/page.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { encryptDataSubject } from "./data-subject.ts";
import { eraseAccount } from "./erase-account.ts";

/** What has been erased so far. */
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
  voice_profiles_erased: 0,
  audit_entries_erased: 0,
};

/**
 * Erases a person's data: the account at once, so that they can't add anything more, the rest in a job.
 * @throws ProblemError `wrong_state` for the caller's own data and for the last active admin.
 */
export async function requestErasure(
  deps: { readonly db: Database; readonly jobs: JobQueue; readonly encryptor: Encryptor },
  principal: Principal,
  actor: AuditActor,
  input: { readonly email: string; readonly recordings: "anonymise" | "delete" },
): Promise<ErasureRow> {
  const { db, jobs, encryptor } = deps;
  const { workspaceId } = principal;
  const { email, recordings } = input;
  if (isOwnData(principal, email)) throw new ProblemError("wrong_state", because("own_data"));
  const row = await transactWithRetry(db, async (tx) => {
    const account = await eraseAccount(tx, workspaceId, email);
    const row = await tx
      .insertInto("erasures")
      .values({
        id: randomUUIDv7(),
        workspace_id: workspaceId,
        requested_by: principal.userId,
        user_id: account?.id ?? null,
        person: encryptDataSubject(encryptor, { email, names: account === null ? [] : [account.name] }),
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
    await jobs.enqueue(tx, "erase_personal_data", { erasureId: row.id }, row.id);
    return row;
  });
  jobs.wake();
  return row;
}

export function isOwnData({ emailKey }: Principal, email: string): boolean {
  return foldCase(email) === emailKey;
}

/** A page of the workspace's personal-data erasures, newest first. */
export function findErasures(
  db: Database,
  workspaceId: string,
  page: PageQuery<Position>,
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
  if (row === undefined)
    throw new ProblemError("not_found", `there is no personal-data erasure ${id} in this workspace`);
  return row;
}

export function presentErasure(row: ErasureRow): z.output<typeof Erasure> {
  return {
    id: row.id,
    recordings: row.recordings as "anonymise" | "delete",
    status: row.state as "pending" | "running" | "done",
    created_datetime: row.created_at.toISOString(),
    finished_datetime: row.finished_at?.toISOString() ?? null,
    // Receipts of earlier versions have no line for every kind of data.
    receipt: { ...emptyReceipt, ...(row.receipt as Receipt) },
  };
}
