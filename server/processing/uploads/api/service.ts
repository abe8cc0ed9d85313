import { randomUUIDv7 } from "node:crypto";
import type { z } from "zod";
import { because } from "../../../../contract/causes/causes.ts";
import type {
  createUpload as createUploadOperation,
  UploadAttributesInput,
} from "../../../../contract/uploads/uploads.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { recordUploadAdded, recordUploadUpdated } from "../lifecycle/events.ts";
import { canPromote, canUpdate } from "../lifecycle/state.ts";
import { advance, stateOf, transition } from "../lifecycle/transition.ts";
import { uploadNotFound } from "../not-found.ts";
import {
  insertUpload,
  lockUpload,
  saveUploadTranscript,
  type UploadRow,
  updateUploadAttributes,
} from "../queries.ts";
import { checkUploadQuotas, type UploadQuotas } from "../quotas.ts";
import { type FileSettings, planFile } from "../transfer/file-plan.ts";
import { defaultTitle, toChanges } from "./attributes.ts";
import { recordersRequired } from "./violations.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
}

interface CreateDependencies extends Dependencies {
  readonly config: FileSettings & UploadQuotas;
}

type CreateInput = z.output<(typeof createUploadOperation)["body"]>;

/** Creates an upload. A transcript is complete with this call; by default it is promoted at once. */
export async function createUpload(
  { db, jobs, config }: CreateDependencies,
  principal: Principal,
  input: CreateInput,
): Promise<UploadRow> {
  const attributes = input.attributes ?? {};
  const row = await db.kysely.transaction().execute(async (tx) => {
    await checkUploadQuotas(tx, config, principal, input.media_type !== "transcript");
    const changes = toChanges(attributes);
    const startDatetime = changes.start_datetime ?? null;
    const created = await insertUpload(tx, {
      id: randomUUIDv7(),
      workspace_id: principal.workspaceId,
      created_by: principal.userId,
      scope: principal.scope,
      media_type: input.media_type,
      title: changes.title ?? defaultTitle(input.media_type, startDatetime ?? new Date()),
      has_default_title: changes.title === undefined,
      auto_promote: input.auto_promote ?? true,
      start_datetime: startDatetime,
      team_id: changes.team_id ?? null,
      recorder_ids: changes.recorder_ids?.length ? changes.recorder_ids : [principal.userId],
      participants: changes.participants ?? [],
      ...(input.media_type === "transcript"
        ? {}
        : { file: await planFile(tx, config, principal.workspaceId) }),
    });
    if (attributes.transcript) await saveUploadTranscript(tx, created.id, attributes.transcript);
    await recordUploadAdded(tx, created);
    return advance(tx, jobs, created);
  });
  jobs.wake();
  return row;
}

/** Changes the given attributes and keeps the others. */
export function updateUpload(
  { db }: Pick<Dependencies, "db">,
  principal: Principal,
  uploadId: string,
  attributes: UploadAttributesInput,
): Promise<UploadRow> {
  return db.kysely.transaction().execute(async (tx) => {
    const row = await lockUpload(tx, principal, uploadId);
    if (row === undefined) throw uploadNotFound(uploadId);
    if (!canUpdate(stateOf(row)))
      throw new ProblemError(
        "wrong_state",
        because("upload_not_editable", { upload: uploadId, state: describeState(row) }),
      );
    if (attributes.recorder_ids?.length === 0 && row.scope === "workspace")
      throw invalidInput([recordersRequired]);
    if (Object.values(attributes).every((value) => value === undefined)) return row;

    const changes = toChanges(attributes);
    const isTitleCleared = attributes.title !== undefined && changes.title === undefined;
    const updated = await updateUploadAttributes(tx, uploadId, {
      ...changes,
      ...(isTitleCleared
        ? {
            title: defaultTitle(
              row.media_type,
              changes.start_datetime ?? row.start_datetime ?? row.created_at,
            ),
            has_default_title: true,
          }
        : {}),
      ...(changes.title === undefined ? {} : { has_default_title: false }),
      ...(changes.recorder_ids?.length === 0 ? { recorder_ids: [row.created_by] } : {}),
    });
    if (attributes.transcript) await saveUploadTranscript(tx, uploadId, attributes.transcript);
    await recordUploadUpdated(tx, updated);
    return updated;
  });
}

/** Sets the language that is spoken in an upload, until its recording exists. */
export function setUploadLanguage(
  { db }: Pick<Dependencies, "db">,
  principal: Principal,
  uploadId: string,
  language: string | null,
): Promise<{ upload_id: string; language: string | null }> {
  return db.kysely.transaction().execute(async (tx) => {
    const row = await lockUpload(tx, principal, uploadId);
    if (row === undefined) throw uploadNotFound(uploadId);
    if (row.status === "success" || row.status === "failure")
      throw new ProblemError(
        "wrong_state",
        row.status === "success"
          ? because("upload_is_recording", { upload: uploadId })
          : because("upload_failed", { upload: uploadId }),
      );
    await updateUploadAttributes(tx, uploadId, { spoken_language: language });
    return { upload_id: row.id, language };
  });
}

/** Promotes a staged upload to a recording. */
export async function promoteUpload(
  { db, jobs }: Dependencies,
  principal: Principal,
  uploadId: string,
): Promise<UploadRow> {
  const promoting = await db.kysely.transaction().execute(async (tx) => {
    const row = await lockUpload(tx, principal, uploadId);
    if (row === undefined) throw uploadNotFound(uploadId);
    if (row.media_expires_at !== null && row.media_expires_at <= new Date())
      throw new ProblemError(
        "wrong_state",
        because("upload_file_expired", { upload: uploadId, time: row.media_expires_at.toISOString() }),
      );
    if (!canPromote(stateOf(row)))
      throw new ProblemError(
        "wrong_state",
        because("upload_not_ready", { upload: uploadId, state: describeState(row) }),
      );
    return transition(tx, jobs, row, "promotion_requested");
  });
  jobs.wake();
  return promoting;
}

function describeState(row: UploadRow): string {
  return `${row.status} with auto_promote ${row.auto_promote}`;
}
