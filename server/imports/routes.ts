import type { z } from "zod";
import * as contract from "../../contract/imports.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { type Api, route } from "../http/route.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { LinkSigner } from "../links/signer.ts";
import type { ObjectStore } from "../storage/store.ts";
import { createFileLinks } from "../uploads/file-links.ts";
import { presentTarget } from "../uploads/present.ts";
import { findUpload, type UploadRow } from "../uploads/queries.ts";
import { findImportFaults } from "./faults.ts";
import { importRecording } from "./service.ts";

/** As of an upload with a transcript. */
const bodyLimit = 12 * 1024 * 1024;

/** Bringing in recordings made elsewhere. */
export function importRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly store: ObjectStore;
    readonly signer: LinkSigner;
    readonly config: Pick<Config, "baseUrl" | "uploadUrlTtlMs" | "maxDurationMs" | "maxUploadBytes" | "s3">;
  },
): void {
  const { db, store, signer, config } = deps;
  const targetOf = createFileLinks({ store, signer, baseUrl: config.baseUrl });

  async function present(row: UploadRow): Promise<z.input<typeof contract.Import>> {
    const isSent = row.status === "awaiting" && !row.import_data?.media_key;
    return {
      id: row.id,
      external_id: row.external_id,
      media_type: row.media_type,
      title: row.title,
      status: row.status,
      recording_id: row.status === "success" ? row.recording_id : null,
      upload: isSent ? presentTarget(row, await targetOf(row)) : null,
      failure: row.status === "failure" ? { reason: row.failure_reason ?? "the import failed" } : null,
      created_datetime: row.created_at.toISOString(),
    };
  }

  route(
    api,
    contract.importRecording,
    async ({ principal, body }) => {
      const { row, created } = await importRecording(deps, principal, body);
      return { ...(await present(row)), created };
    },
    { bodyLimit, findFaults: (principal, body) => findImportFaults(deps, principal, body) },
  );

  route(api, contract.getImport, async ({ principal, params }) => {
    const row = await findUpload(db.kysely, principal, params.import_id);
    if (row?.import_data == null)
      throw new ProblemError("not_found", `there is no import ${params.import_id} that this token can see`);
    return present(row);
  });
}
