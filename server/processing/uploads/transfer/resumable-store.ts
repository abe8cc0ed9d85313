import type { Readable } from "node:stream";
import { DataStore, ERRORS, Upload } from "@tus/server";
import type { FastifyBaseLogger } from "fastify";
import { because } from "../../../../contract/causes/causes.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import {
  BodyBrokenError,
  ObjectExistsError,
  type ObjectStore,
  ObjectTooLargeError,
  OffsetError,
} from "../../../platform/storage/store.ts";
import { activityIntervalMs, type SweepTimeouts } from "../lifecycle/activity.ts";
import { needsFile } from "../lifecycle/upload-file.ts";
import { findUploadById, noteResumable } from "../media-queries.ts";
import { uploadNotFound } from "../not-found.ts";
import type { UploadRow } from "../queries.ts";
import { releaseStorage, reserveStorage, type StorageQuota } from "../quotas.ts";
import { checkForFile, checkOrJoin, takeFile } from "./arrival.ts";
import { alreadyUploaded, refuseArrived } from "./refusals.ts";
import { type LeaseLocker, stillLocked } from "./resumable-lease.ts";
import { beginResumable, forgetResumable } from "./resumable-queries.ts";

export interface ResumableStoreDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly locker: LeaseLocker;
  readonly config: SweepTimeouts & StorageQuota;
  readonly log: FastifyBaseLogger;
}

/**
 * The store that the tus server uses: the pieces are in our object store, the announced length is on the upload's row.
 * Every method runs while its request holds the upload's lease.
 *
 * The offset is always what the object store has received, so a killed server counts what it had written.
 * Upload-Metadata is not stored: the title and all other attributes are the upload's own.
 */
export function createResumableStore(deps: ResumableStoreDependencies): DataStore {
  const { store, locker, config, log } = deps;
  const db = deps.db.kysely;

  async function load(uploadId: string): Promise<UploadRow> {
    const row = await findUploadById(db, uploadId);
    if (row === undefined) throw uploadNotFound(uploadId);
    return row;
  }

  /** The upload once its file is here: complete, so that losing the last response does no harm. */
  async function describeArrived(row: UploadRow): Promise<Upload> {
    const length = lengthOf(row);
    // The file may be another one, sent by PUT. Later it is gone and only the length is known.
    const file = needsFile(row) ? await store.head(uploadFileKey(row.id)) : null;
    if (length === undefined || (file !== null && file.size !== length)) throw alreadyUploaded(row.id);
    return new Upload({ id: row.id, offset: length, size: length });
  }

  /** Joins the pieces and moves the upload on; what a crash leaves undone here, `checkForFile` does later. */
  async function finish(uploadId: string): Promise<void> {
    // A process that lost the lease may have written beside another sender; only the holder may decide about the
    // pieces.
    if (!(await locker.isHeld(uploadId))) throw stillLocked;
    await takeFile(deps, uploadId, await store.finishAppend(uploadFileKey(uploadId)));
  }

  /** Converts an error of the object store to one of the protocol or of the API. */
  async function explain(error: unknown, row: UploadRow, offset: number): Promise<unknown> {
    if (error instanceof OffsetError) return ERRORS.INVALID_OFFSET;
    if (error instanceof BodyBrokenError)
      return new ProblemError(
        "bad_request",
        "the connection broke before the body was complete; the bytes received so far are kept, so resume the upload",
      );
    if (error instanceof ObjectTooLargeError && isShortOfRoom(row)) return roomExceeded(row, offset);
    if (error instanceof ObjectTooLargeError)
      return new ProblemError(
        "body_too_large",
        because("file_too_large_when_sent", { limit: maxBytes(row) }),
      );
    if (error instanceof ObjectExistsError) {
      // A file sent by PUT arrived first.
      await store.dropAppend(uploadFileKey(row.id));
      await checkForFile(deps, row.id);
      return alreadyUploaded(row.id);
    }
    return error;
  }

  /** Keeps room free ahead of a file of unknown length, as it arrives. */
  async function withRoom(row: UploadRow, offset: number): Promise<UploadRow> {
    refuseArrived(row);
    const isShort = Number(row.reserved_bytes) < offset + roomStepBytes / 2;
    if (config.storageBytesPerWorkspace === null || row.resumable_length !== null || !isShort) return row;
    const kept = await reserveStorage(deps.db, config, row, null, roomAt(row, offset), offset);
    return { ...row, reserved_bytes: String(kept) };
  }

  const methods = {
    // Extensions of tus 1.0, named as in the Tus-Extension header.
    extensions: ["creation", "creation-with-upload", "creation-defer-length", "termination"],

    /**
     * Starts from the beginning, even when pieces of an earlier attempt exist. Not if either attempt's length is unknown:
     * such a sender may no longer have what it sent.
     */
    async create(upload: Upload): Promise<Upload> {
      const row = await load(upload.id);
      refuseArrived(row);
      const key = uploadFileKey(row.id);
      if (await checkOrJoin(deps, row.id)) throw alreadyUploaded(row.id);
      const mayBeUnique = upload.size === undefined || row.resumable_length === null;
      if (mayBeUnique && ((await store.appended(key))?.offset ?? 0) > 0)
        throw new ProblemError(
          "wrong_state",
          `bytes of upload ${row.id} are stored already, and its length is not known; continue with HEAD and PATCH, or drop the bytes with DELETE before you start again`,
        );
      await reserveStorage(deps.db, config, row, upload.size ?? null, roomAt(row, 0));
      // In this order: old pieces under a new length could be taken for a complete file.
      await store.dropAppend(key);
      await beginResumable(db, row.id, upload.size ?? null);
      if (upload.size === 0) {
        try {
          await takeFile(deps, row.id, await store.put(key, Buffer.alloc(0), { ifAbsent: true }));
        } catch (error) {
          throw await explain(error, row, 0);
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
          `no bytes were sent for upload ${uploadId} yet; start with POST to this URL (tus, Creation)`,
        );
      const pieces = await store.appended(uploadFileKey(uploadId));
      const length = lengthOf(row);
      // Complete, or already joined by a server that died before it could record it.
      const mayBeHere = pieces === null || pieces.offset === length;
      if (mayBeHere && (await checkOrJoin(deps, uploadId))) return describeArrived(await load(uploadId));
      return new Upload({
        id: uploadId,
        offset: pieces?.offset ?? 0,
        ...(length === undefined ? {} : { size: length }),
      });
    },

    async write(body: Readable, uploadId: string, offset: number): Promise<number> {
      const row = await withRoom(await load(uploadId), offset);
      const note = (): Promise<void> => noteResumable(db, uploadId, null);
      await note();
      const noting = setInterval(() => {
        note().catch((error: unknown) => {
          // The next attempt comes well within the timeout of the sweeps.
          log.warn({ err: error, uploadId }, "could not record that a resumable upload is being sent");
        });
      }, activityIntervalMs(config));
      try {
        const end = await store.append(uploadFileKey(uploadId), offset, body, { maxBytes: maxBytes(row) });
        if (end === lengthOf(row)) await finish(uploadId);
        else await note();
        return end;
      } catch (error) {
        throw await explain(error, row, offset);
      } finally {
        clearInterval(noting);
      }
    },

    async declareUploadLength(uploadId: string, length: number): Promise<void> {
      const row = await load(uploadId);
      await reserveStorage(deps.db, config, row, length, Number(row.max_upload_bytes));
      await noteResumable(db, uploadId, length);
    },

    /** The sender cancels: the upload waits for a file as if nothing had arrived. */
    async remove(uploadId: string): Promise<void> {
      refuseArrived(await load(uploadId));
      await store.dropAppend(uploadFileKey(uploadId));
      await forgetResumable(db, uploadId);
      await releaseStorage(deps.db, uploadId);
    },
  };
  return Object.assign(new DataStore(), methods);
}

/** Bytes that the sender announced; undefined before that. The driver returns int8 as text. */
function lengthOf(row: UploadRow): number | undefined {
  return row.resumable_length === null ? undefined : Number(row.resumable_length);
}

/**
 * How much of a workspace's quota a file of unknown length reserves beyond what has arrived, so that several people can
 * record at the same time. One request that sends more than this without saying the file's length is refused.
 */
const roomStepBytes = 1024 ** 3;

function roomAt(row: UploadRow, offset: number): number {
  return Math.min(Number(row.max_upload_bytes), offset + roomStepBytes);
}

/** Without an announced length, at most the space that is reserved in the workspace's storage. */
function maxBytes(row: UploadRow): number {
  const most = lengthOf(row) ?? Number(row.max_upload_bytes);
  return isShortOfRoom(row) ? Number(row.reserved_bytes) : most;
}

function isShortOfRoom(row: UploadRow): boolean {
  const room = Number(row.reserved_bytes);
  return lengthOf(row) === undefined && room > 0 && room < Number(row.max_upload_bytes);
}

/** A request exceeded the reservation: because the workspace's storage is full, or because it sent too much at once. */
function roomExceeded(row: UploadRow, offset: number): ProblemError {
  const room = Number(row.reserved_bytes) - offset;
  // Without lack of space, at least half a step is reserved.
  return room < roomStepBytes / 2
    ? new ProblemError("quota_exceeded", because("storage_nearly_full", { bytes: room }))
    : new ProblemError(
        "body_too_large",
        `one request can send at most ${room} more bytes of a file whose length is unknown; find out with HEAD what has arrived, and send smaller pieces or announce Upload-Length`,
      );
}
