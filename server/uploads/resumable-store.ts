import type { Readable } from "node:stream";
import { DataStore, ERRORS, Upload } from "@tus/server";
import type { FastifyBaseLogger } from "fastify";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { uploadFileKey } from "../storage/layout.ts";
import {
  BodyBrokenError,
  ObjectExistsError,
  type ObjectStore,
  ObjectTooLargeError,
  OffsetError,
} from "../storage/store.ts";
import { noteEveryMs, type PatienceSettings } from "./activity.ts";
import { lookForFile, lookOrFinish, takeFile } from "./arrival.ts";
import { findUploadById, noteResumable } from "./media-queries.ts";
import type { UploadRow } from "./queries.ts";
import { alreadyUploaded, refuseArrived } from "./refusals.ts";
import { type LeaseLocker, stillLocked } from "./resumable-lease.ts";
import { beginResumable, forgetResumable } from "./resumable-queries.ts";
import { uploadNotFound } from "./service.ts";
import { needsFile } from "./upload-file.ts";

export interface ResumableStoreDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly locker: LeaseLocker;
  readonly config: PatienceSettings;
  readonly log: FastifyBaseLogger;
}

/**
 * What the tus server knows as its store: the pieces lie in our object store, the announced length on the upload's
 * row. Every method runs while its request holds the upload's lease.
 *
 * The offset is always what the object store says has arrived, so a server that was killed counts what it had written.
 * Upload-Metadata is not kept: title and all else are the upload's own.
 */
export function createResumableStore(deps: ResumableStoreDependencies): DataStore {
  const { store, locker, config, log } = deps;
  const db = deps.db.kysely;

  async function load(uploadId: string): Promise<UploadRow> {
    const row = await findUploadById(db, uploadId);
    if (row === undefined) throw uploadNotFound(uploadId);
    return row;
  }

  /** The upload as its sender sees it once the file is here: complete, so that a lost last answer does no harm. */
  async function describeArrived(row: UploadRow): Promise<Upload> {
    const length = lengthOf(row);
    // The file that arrived may be another, sent by PUT. Later it is gone and only the length is known.
    const file = needsFile(row) ? await store.head(uploadFileKey(row.id)) : null;
    if (length === undefined || (file !== null && file.size !== length)) throw alreadyUploaded(row.id);
    return new Upload({ id: row.id, offset: length, size: length });
  }

  /** Puts the pieces together and lets the upload go on; what a crash leaves undone here, `lookForFile` does later. */
  async function finish(uploadId: string): Promise<void> {
    // Who lost the lease may have written beside another sender: what is there is for the holder to judge.
    if (!(await locker.isHeld(uploadId))) throw stillLocked;
    await takeFile(deps, uploadId, await store.finishAppend(uploadFileKey(uploadId)));
  }

  /** Says in the protocol's and our words what the object store refused. */
  async function explain(error: unknown, row: UploadRow): Promise<unknown> {
    if (error instanceof OffsetError) return ERRORS.INVALID_OFFSET;
    if (error instanceof BodyBrokenError)
      return new ProblemError("bad_request", "the body broke off; what arrived before was kept");
    if (error instanceof ObjectTooLargeError)
      return new ProblemError("body_too_large", `the file may have at most ${mostBytes(row)} bytes`);
    if (error instanceof ObjectExistsError) {
      // A file sent by PUT was first.
      await store.dropAppend(uploadFileKey(row.id));
      await lookForFile(deps, row.id);
      return alreadyUploaded(row.id);
    }
    return error;
  }

  const methods = {
    // Extensions of tus 1.0 by their names in the Tus-Extension header.
    extensions: ["creation", "creation-with-upload", "creation-defer-length", "termination"],

    /** Begins from nothing, also when pieces of an earlier attempt are there. */
    async create(upload: Upload): Promise<Upload> {
      const row = await load(upload.id);
      refuseArrived(row);
      const key = uploadFileKey(row.id);
      if (await lookOrFinish(deps, row.id)) throw alreadyUploaded(row.id);
      // In this order: old pieces under a new length could be taken for a whole file.
      await store.dropAppend(key);
      await beginResumable(db, row.id, upload.size ?? null);
      if (upload.size === 0) {
        try {
          await takeFile(deps, row.id, await store.put(key, Buffer.alloc(0), { ifAbsent: true }));
        } catch (error) {
          throw await explain(error, row);
        }
      }
      return upload;
    },

    async getUpload(uploadId: string): Promise<Upload> {
      const row = await load(uploadId);
      if (row.received_at !== null) return describeArrived(row);
      refuseArrived(row);
      if (row.active_at === null)
        throw new ProblemError(
          "not_found",
          `nothing was sent for upload ${uploadId} yet; begin with POST to this address (tus, Creation)`,
        );
      const pieces = await store.appended(uploadFileKey(uploadId));
      const length = lengthOf(row);
      // Whole, or put together already, by a server that died before it could say so.
      const mayBeHere = pieces === null || pieces.offset === length;
      if (mayBeHere && (await lookOrFinish(deps, uploadId))) return describeArrived(await load(uploadId));
      return new Upload({
        id: uploadId,
        offset: pieces?.offset ?? 0,
        ...(length === undefined ? {} : { size: length }),
      });
    },

    async write(body: Readable, uploadId: string, offset: number): Promise<number> {
      const row = await load(uploadId);
      refuseArrived(row);
      const note = (): Promise<void> => noteResumable(db, uploadId, null);
      await note();
      const noting = setInterval(() => {
        note().catch((error: unknown) => {
          // It is noted again, well within the patience of the sweeps.
          log.warn({ err: error, uploadId }, "could not note that a resumable upload is being sent");
        });
      }, noteEveryMs(config));
      try {
        const end = await store.append(uploadFileKey(uploadId), offset, body, { maxBytes: mostBytes(row) });
        if (end === lengthOf(row)) await finish(uploadId);
        else await note();
        return end;
      } catch (error) {
        throw await explain(error, row);
      } finally {
        clearInterval(noting);
      }
    },

    async declareUploadLength(uploadId: string, length: number): Promise<void> {
      await noteResumable(db, uploadId, length);
    },

    /** The sender gives up: the upload waits for a file as if nothing had come. */
    async remove(uploadId: string): Promise<void> {
      refuseArrived(await load(uploadId));
      await store.dropAppend(uploadFileKey(uploadId));
      await forgetResumable(db, uploadId);
    },
  };
  return Object.assign(new DataStore(), methods);
}

/** Bytes that the sender has announced; undefined before. The driver gives int8 as text. */
function lengthOf(row: UploadRow): number | undefined {
  return row.resumable_length === null ? undefined : Number(row.resumable_length);
}

function mostBytes(row: UploadRow): number {
  return lengthOf(row) ?? Number(row.max_upload_bytes);
}
