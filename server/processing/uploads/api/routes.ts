import type { UploadIncludeInput } from "../../../../contract/uploads/uploads.ts";
import * as contract from "../../../../contract/uploads/uploads.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { readPage, takeUpToTotal, timeCursor } from "../../../platform/http/page.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { uploadNotFound } from "../not-found.ts";
import { findTranscriptSizes, findUpload, findUploads, type UploadRow } from "../queries.ts";
import type { UploadQuotas } from "../quotas.ts";
import { findTranscripts } from "../transcript-copies.ts";
import { createFileLinks } from "../transfer/file-links.ts";
import { createOneStepUpload, findOneStepViolations } from "./one-step.ts";
import { presentUpload } from "./present.ts";
import { createUpload, promoteUpload, updateUpload } from "./service.ts";
import { findCreationViolations, findReferenceViolations } from "./violations.ts";

const cursorFormat = timeCursor("uploads");

/** Four hours of talk take less than a megabyte; this leaves room for a long day with short segments. */
const transcriptBodyLimit = 12 * 1024 * 1024;

/** A page with transcripts ends early rather than exceed this, unless its first upload alone does. */
const maxPageBytes = 16 * 1024 * 1024;

type UploadConfig = UploadQuotas &
  Pick<Config, "baseUrl" | "pageSize" | "uploadUrlTtlMs" | "maxDurationMs" | "maxUploadBytes">;

/** The contract's upload operations. */
export function uploadRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly store: ObjectStore;
    readonly signer: LinkSigner;
    readonly config: UploadConfig;
  },
): void {
  const { db, jobs, store, signer, config } = deps;
  const targetOf = createFileLinks({ store, signer, baseUrl: config.baseUrl });

  route(
    api,
    contract.createUpload,
    async ({ principal, body }) =>
      presentOne(await createUpload({ db, jobs, config }, principal, body), body.include),
    {
      bodyLimit: transcriptBodyLimit,
      findViolations: (principal, body) => findCreationViolations(db.kysely, principal, body),
    },
  );

  route(
    api,
    contract.uploadRecording,
    async ({ principal, body }) => {
      const row = await createOneStepUpload({ db, jobs, config }, principal, body);
      return {
        uuid: row.id,
        url: (await targetOf(row)).url,
        max_duration_sec: row.max_duration_sec ?? 0,
        max_upload_bytes: Number(row.max_upload_bytes),
      };
    },
    { findViolations: (principal, body) => findOneStepViolations(db.kysely, principal, body) },
  );

  route(api, contract.listUploads, async ({ principal, body }) => {
    const { rows, cursor } = await readPage({
      cursor: body.cursor,
      size: config.pageSize,
      format: cursorFormat,
      fetch: (page) => findUploads(db.kysely, principal, { ...page, mediaType: body.filter?.media_type }),
      positionOf: ({ created_at: at, id }) => ({ at, id }),
      shorten: (rows) => (body.include?.transcript ? cutToSize(rows) : rows),
    });
    return { uploads: await presentMany(rows, body.include), cursor };
  });

  route(api, contract.getUpload, async ({ principal, params, body }) => {
    const row = await findUpload(db.kysely, principal, params.upload_id);
    if (row === undefined) throw uploadNotFound(params.upload_id);
    return presentOne(row, body.include);
  });

  route(
    api,
    contract.updateUpload,
    async ({ principal, params, body }) =>
      presentOne(
        await updateUpload({ db }, principal, params.upload_id, body.attributes ?? {}),
        body.include,
      ),
    {
      bodyLimit: transcriptBodyLimit,
      findViolations: (principal, body) => findReferenceViolations(db.kysely, principal, body),
    },
  );

  route(api, contract.promoteUpload, async ({ principal, params, body }) =>
    presentOne(await promoteUpload({ db, jobs }, principal, params.upload_id), body.include),
  );

  async function cutToSize(rows: UploadRow[]): Promise<UploadRow[]> {
    const sizes = await findTranscriptSizes(
      db.kysely,
      rows.map((row) => row.id),
    );
    return takeUpToTotal(rows, maxPageBytes, (row) => sizes.get(row.id) ?? row.transcript_info?.bytes ?? 0);
  }

  async function presentMany(rows: readonly UploadRow[], include: UploadIncludeInput = {}) {
    const transcripts = include.transcript ? await findTranscripts(db.kysely, rows) : new Map();
    const now = new Date();
    return Promise.all(
      rows.map(async (row) => {
        const target = row.status === "awaiting" ? await targetOf(row) : null;
        return presentUpload(row, include, transcripts.get(row.id), target, now);
      }),
    );
  }

  async function presentOne(row: UploadRow, include: UploadIncludeInput | undefined) {
    const [upload] = await presentMany([row], include);
    if (upload === undefined) throw new Error("one row makes one upload");
    return upload;
  }
}
