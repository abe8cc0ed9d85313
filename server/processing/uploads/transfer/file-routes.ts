import type { FastifyInstance, FastifyRequest } from "fastify";
import { uploadFilesPath } from "../../../../contract/uploads/upload-file.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError, sendProblem } from "../../../platform/http/errors/problem.ts";
import { readLink } from "../../../platform/http/files/read-link.ts";
import { watch } from "../../../platform/http/files/watch-access.ts";
import { registerScope } from "../../../platform/http/scope.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import {
  BodyBrokenError,
  ObjectExistsError,
  type ObjectStore,
  ObjectTooLargeError,
} from "../../../platform/storage/store.ts";
import { activityIntervalMs, type SweepTimeouts } from "../lifecycle/activity.ts";
import { createSenderCheck, refuseEndedAccess } from "../lifecycle/end-access.ts";
import { findUploadById, notePut } from "../media-queries.ts";
import { uploadNotFound } from "../not-found.ts";
import type { UploadRow } from "../queries.ts";
import { outOfRoom, releaseStorage, reserveStorage, type StorageQuota } from "../quotas.ts";
import { takeFile } from "./arrival.ts";
import { alreadyUploaded, drainBeforeRefusal, expectationOf, refuseArrived, tooLarge } from "./refusals.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl"> & SweepTimeouts & StorageQuota;
}

/** A sender that is silent for this long is considered gone. */
const silenceMs = 120_000;

const corsHeaders = {
  // The signed URL is the permission and no cookie counts, so any page that has the URL may send.
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "etag, x-request-id",
};

/**
 * Receives an upload's file by PUT. Not part of a versioned API: Create Upload returns the URL, and its signature is
 * the permission.
 */
export function uploadFileRoutes(app: FastifyInstance, deps: Dependencies): void {
  const { db, store, signer, config } = deps;
  const maySend = createSenderCheck(db.kysely);
  void registerScope(
    app,
    async (scope) => {
      // The body is streamed to the store, whatever its content type.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
      scope.addHook("onRequest", async (_request, reply) => {
        reply.headers(corsHeaders);
      });

      scope.options("/:upload_id", async (_request, reply) =>
        reply
          .headers({
            "access-control-allow-methods": "PUT, OPTIONS",
            "access-control-allow-headers": "*, content-type, if-none-match, authorization",
            "access-control-max-age": "86400",
          })
          .code(204)
          .send(),
      );

      scope.put("/:upload_id", { config: { takesFiles: true } }, async (request, reply) => {
        const expectation = expectationOf(request, reply);
        try {
          const upload = await mayPut(request);
          watch(reply.raw, () => maySend(upload.id));
          const announced = request.headers["content-length"];
          const room = await reserveStorage(
            db,
            config,
            upload,
            announced === undefined ? null : Number(announced),
            Number(upload.max_upload_bytes),
          );
          await notePut(db.kysely, upload.id);
          expectation.meet();
          const info = await receive(request, upload, room);
          await takeFile(deps, upload.id, info);
          return await reply.header("etag", `"${info.etag}"`).send({ success: true });
        } catch (error) {
          await drainBeforeRefusal(request, reply, expectation);
          // The usual error handling would wait for the rest of a body that is not coming.
          if (expectation.isOpen && error instanceof ProblemError) return sendProblem(request, reply, error);
          throw error;
        }
      });

      async function mayPut(request: FastifyRequest): Promise<UploadRow> {
        const { upload_id } = request.params as { upload_id: string };
        const uploadId = readLink(signer, "upload", upload_id, request.query);
        const upload = await findUploadById(db.kysely, uploadId);
        if (upload === undefined) throw uploadNotFound(uploadId);
        if (upload.one_step === null && request.headers["if-none-match"]?.trim() !== "*")
          throw new ProblemError(
            "precondition_required",
            "If-None-Match: * is missing; send the headers that Create Upload returned in media.upload.headers",
          );
        await refuseEndedAccess(db.kysely, upload);
        refuseArrived(upload);
        const length = Number(request.headers["content-length"] ?? 0);
        if (length > Number(upload.max_upload_bytes)) throw tooLarge(upload);
        return upload;
      }

      /** @param room free bytes in the workspace's storage. */
      async function receive({ raw: body, log }: FastifyRequest, upload: UploadRow, room: number) {
        const announced = body.headers["content-length"];
        const silence = new AbortController();
        const timer = setTimeout(() => silence.abort(new Error("the sender stopped sending")), silenceMs);
        const resetSilence = (): void => {
          timer.refresh();
        };
        body.on("data", resetSilence);
        const noting = setInterval(() => {
          notePut(db.kysely, upload.id).catch((error: unknown) => {
            // The next attempt comes well within the timeout of the sweeps.
            log.warn({ err: error, uploadId: upload.id }, "could not record that a file is being sent");
          });
        }, activityIntervalMs(config));
        // Listening for data starts the flow; the store decides when.
        body.pause();
        try {
          return await store.put(uploadFileKey(upload.id), body, {
            ifAbsent: true,
            maxBytes: Math.min(room, Number(upload.max_upload_bytes)),
            signal: silence.signal,
            ...(announced === undefined ? {} : { contentLength: Number(announced) }),
          });
        } catch (error) {
          if (error instanceof ObjectExistsError) throw alreadyUploaded(upload.id);
          await releaseStorage(db, upload.id);
          if (error instanceof ObjectTooLargeError)
            throw room < Number(upload.max_upload_bytes) ? outOfRoom(room) : tooLarge(upload);
          if (error instanceof BodyBrokenError)
            throw new ProblemError(
              "bad_request",
              "the connection broke before the file was complete and nothing was stored; send it again to the same URL",
            );
          throw error;
        } finally {
          clearTimeout(timer);
          clearInterval(noting);
          body.off("data", resetSilence);
        }
      }
    },
    uploadFilesPath,
  );
}
