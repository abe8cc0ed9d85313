import type { UploadIncludeInput } from "../../contract/uploads.ts";
import * as contract from "../../contract/uploads.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import { type Api, route } from "../http/route.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { LinkSigner } from "../links/signer.ts";
import type { ObjectStore } from "../storage/store.ts";
import { findCreationFaults, findReferenceFaults } from "./faults.ts";
import { createFileLinks } from "./file-links.ts";
import { createOneStepUpload, findOneStepFaults } from "./one-step.ts";
import { presentUpload } from "./present.ts";
import {
  findTranscriptSizes,
  findUpload,
  findUploads,
  findUploadTranscripts,
  type UploadRow,
} from "./queries.ts";
import { createUpload, promoteUpload, updateUpload, uploadNotFound } from "./service.ts";

const cursorName = "uploads";

/** Four hours of talk take less than a megabyte; this leaves room for a long day with short segments. */
const transcriptBodyLimit = 12 * 1024 * 1024;

/** A page with transcripts ends early rather than grow beyond this, unless its first upload alone does. */
const maxPageBytes = 16 * 1024 * 1024;

type UploadConfig = Pick<
  Config,
  "baseUrl" | "pageSize" | "uploadUrlTtlMs" | "maxDurationMs" | "maxUploadBytes"
>;

/** The uploads operations of the contract. */
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
      findFaults: (principal, body) => findCreationFaults(db.kysely, principal, body),
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
    { findFaults: (principal, body) => findOneStepFaults(db.kysely, principal, body) },
  );

  route(api, contract.listUploads, async ({ principal, body }) => {
    const rows = await findUploads(db.kysely, principal, {
      mediaType: body.filter?.media_type,
      after: body.cursor === undefined ? null : decodeCursor(cursorName, body.cursor),
      // One more than the page shows whether there is a next one.
      limit: config.pageSize + 1,
    });
    const page = body.include?.transcript
      ? await cutToSize(rows.slice(0, config.pageSize))
      : rows.slice(0, config.pageSize);
    const last = page.at(-1);
    return {
      uploads: await presentMany(page, body.include),
      cursor:
        rows.length > page.length && last
          ? encodeCursor(cursorName, { at: last.created_at, id: last.id })
          : null,
    };
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
      findFaults: (principal, body) => findReferenceFaults(db.kysely, principal, body),
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
    let total = 0;
    const end = rows.findIndex((row, index) => {
      total += sizes.get(row.id) ?? 0;
      return index > 0 && total > maxPageBytes;
    });
    return end === -1 ? rows : rows.slice(0, end);
  }

  async function presentMany(rows: readonly UploadRow[], include: UploadIncludeInput = {}) {
    const transcripts = include.transcript
      ? await findUploadTranscripts(
          db.kysely,
          rows.map((row) => row.id),
        )
      : new Map();
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
