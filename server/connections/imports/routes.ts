import type { z } from "zod";
import * as contract from "../../../contract/uploads/imports.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { failureOf, presentTarget } from "../../processing/uploads/api/present.ts";
import { findUpload, type UploadRow } from "../../processing/uploads/queries.ts";
import type { UploadQuotas } from "../../processing/uploads/quotas.ts";
import { createFileLinks } from "../../processing/uploads/transfer/file-links.ts";
import { noticeOf } from "./file-notice.ts";
import { importNotFound, importRecording, updateImport } from "./service.ts";
import { findImportViolations } from "./violations.ts";

/** The same limit as for an upload with a transcript. */
const bodyLimit = 12 * 1024 * 1024;

/** Imports of recordings made elsewhere. */
export function importRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly store: ObjectStore;
    readonly signer: LinkSigner;
    readonly config: UploadQuotas &
      Pick<Config, "baseUrl" | "uploadUrlTtlMs" | "maxDurationMs" | "maxUploadBytes" | "s3">;
  },
): void {
  const { db, store, signer, config } = deps;
  const targetOf = createFileLinks({ store, signer, baseUrl: config.baseUrl });

  async function present(principal: Principal, row: UploadRow): Promise<z.input<typeof contract.Import>> {
    const isSent = row.status === "awaiting" && !row.import_data?.media_key;
    return {
      id: row.id,
      external_id: row.external_id,
      media_type: row.media_type,
      title: row.title,
      status: row.status,
      recording_id: row.status === "success" ? row.recording_id : null,
      upload: isSent ? presentTarget(row, await targetOf(row)) : null,
      file_bytes: receivedBytes(row),
      failure: row.status === "failure" ? failureOf(row, "the import failed") : null,
      notice: noticeOf(row),
      auto_promote: row.auto_promote,
      progress: row.status === "promoting" ? row.work_progress : null,
      start: startOf(row),
      audio_tracks: tracksOf(row),
      notes: notesFor(principal, row),
      created_datetime: row.created_at.toISOString(),
    };
  }

  route(
    api,
    contract.importRecording,
    async ({ principal, body }) => {
      const { row, created } = await importRecording(deps, principal, body);
      return { ...(await present(principal, row)), created };
    },
    { bodyLimit, findViolations: (principal, body) => findImportViolations(deps, principal, body) },
  );

  route(api, contract.getImport, async ({ principal, params }) => {
    const row = await findUpload(db.kysely, principal, params.import_id);
    if (row?.import_data == null) throw importNotFound(params.import_id);
    return present(principal, row);
  });

  route(
    api,
    contract.updateImport,
    async ({ principal, params, body }) =>
      present(principal, await updateImport(deps, principal, params.import_id, body)),
    { keepNulls: true },
  );
}

type ImportOutput = z.input<typeof contract.Import>;

/** Workspace tokens see the uploads of all users, but private notes are their author's alone. */
function notesFor(principal: Principal, { created_by, import_data }: UploadRow): string | null {
  const isAuthor = principal.scope === "personal" && principal.userId === created_by;
  return isAuthor ? (import_data?.notes ?? null) : null;
}

/** A sender that still has bytes of the file keeps them until this says that they are here. */
function receivedBytes({ received_at, resumable_length }: UploadRow): number | null {
  return received_at === null || resumable_length === null ? null : Number(resumable_length);
}

function startOf({ facts, start_datetime: start }: UploadRow): ImportOutput["start"] {
  if (start === null) return null;
  const datetime = start.toISOString();
  return { datetime, from: facts?.start?.at === datetime ? facts.start.from : "user" };
}

function tracksOf({ facts, import_data }: UploadRow): ImportOutput["audio_tracks"] {
  if (facts?.audioTracks === undefined) return null;
  return {
    choice: import_data?.audio_tracks ?? "mix",
    tracks: facts.audioTracks.map(({ title, language, channels }) => ({ title, language, channels })),
  };
}
