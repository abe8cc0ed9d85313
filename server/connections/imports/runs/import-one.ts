import { sentences } from "../../../../contract/sentences.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import {
  BodyBrokenError,
  ObjectExistsError,
  type ObjectInfo,
  type ObjectStore,
  ObjectTooLargeError,
} from "../../../platform/storage/store.ts";
import { transition } from "../../../processing/uploads/lifecycle/transition.ts";
import { isDataError } from "../../../processing/uploads/promotion/promote.ts";
import { lockUploadById, type UploadRow } from "../../../processing/uploads/queries.ts";
import type { UploadQuotas } from "../../../processing/uploads/quotas.ts";
import { checkForFile, takeFile } from "../../../processing/uploads/transfer/arrival.ts";
import type { FileSettings } from "../../../processing/uploads/transfer/file-plan.ts";
import { importRecording } from "../service.ts";
import { RecordingError } from "../sources/errors.ts";
import type { SourceMedia, SourceRecording } from "../sources/source.ts";
import { convert } from "./convert.ts";
import type { Directory } from "./directory.ts";

export interface ImportDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: FileSettings & UploadQuotas & Pick<Config, "s3">;
}

interface OneImport {
  readonly principal: Principal;
  readonly directory: Directory;
  /** Owns recordings without a recorder here. */
  readonly importerId: string;
  /** The same id finds the import of an earlier attempt. */
  readonly externalId: string;
  readonly source: SourceRecording;
  /** How often a broken download is repeated. */
  readonly maxAttempts: number;
  /** Called before the media is sent. */
  onCreated(upload: UploadRow, omitted: Readonly<Record<string, number>>): Promise<void>;
}

/** An admin with the rights of a workspace token: imports are the workspace's. */
export function workspaceImporter(of: {
  readonly workspaceId: string;
  readonly userId: string;
  readonly tokenId: string;
}): Principal {
  return {
    ...of,
    tokenType: "workspace_access_token",
    scope: "workspace",
    role: "admin",
    emailKey: "",
    name: "import",
    expiresAt: null,
    sees: [of.workspaceId],
  };
}

/**
 * Imports one recording of a source: creates the upload, or finds that of an earlier attempt, and sends its media. Killed
 * at any point it can run again.
 * @throws BodyBrokenError, RecordingError and others; the upload still waits for its file, see `failUpload`.
 */
export async function importOne(deps: ImportDependencies, one: OneImport): Promise<void> {
  const { principal, directory, importerId, externalId, source } = one;
  const open = source.openMedia ?? (async () => null);
  // Opened first: its format is part of the import, and without it none is created.
  let media = await open();
  try {
    const { input, moved, omitted } = await convert(source, externalId, media, { directory, importerId });
    const { row } = await importRecording(deps, principal, input, moved);
    await one.onCreated(row, omitted);
    if (row.status !== "awaiting" || media === null) return;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await sendMedia(deps, row, media);
        return;
      } catch (error) {
        if (!(error instanceof BodyBrokenError) || attempt >= one.maxAttempts) throw error;
        media = await open();
        if (media === null) throw new RecordingError(sentences.import_media_gone);
      }
    }
  } finally {
    media?.body.destroy();
  }
}

async function sendMedia(deps: ImportDependencies, upload: UploadRow, media: SourceMedia): Promise<void> {
  let file: ObjectInfo;
  try {
    file = await deps.store.put(uploadFileKey(upload.id), media.body, {
      // Another job may import the same meeting: the file that it stored first must not be replaced.
      ifAbsent: true,
      maxBytes: Number(upload.max_upload_bytes ?? deps.config.maxUploadBytes),
    });
  } catch (error) {
    if (!(error instanceof ObjectExistsError)) throw error;
    await checkForFile(deps, upload.id);
    return;
  }
  await takeFile(deps, upload.id, file);
}

/** Ends an import that waits for its file, which will not arrive. */
export async function failUpload(
  { db, jobs }: Pick<ImportDependencies, "db" | "jobs">,
  uploadId: string,
  failureReason: string,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const row = await lockUploadById(tx, uploadId);
    if (row?.status === "awaiting") await transition(tx, jobs, row, "url_expired", { failureReason });
  });
}

/** Why this recording alone is not imported; null: the error says nothing about the recording. */
export function reasonOf(error: unknown): string | null {
  if (error instanceof RecordingError || error instanceof ProblemError) return error.message;
  if (error instanceof BodyBrokenError) return sentences.import_media_broken;
  if (error instanceof ObjectTooLargeError) return sentences.import_media_large;
  if (isDataError(error)) return sentences.import_values;
  return null;
}
