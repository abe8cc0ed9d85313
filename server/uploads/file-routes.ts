import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { ProblemError, sendProblem } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { readLink } from "../links/read-link.ts";
import type { LinkSigner } from "../links/signer.ts";
import { uploadFileKey } from "../storage/layout.ts";
import {
  BodyBrokenError,
  ObjectExistsError,
  type ObjectStore,
  ObjectTooLargeError,
} from "../storage/store.ts";
import { noteEveryMs, type PatienceSettings } from "./activity.ts";
import { takeFile } from "./arrival.ts";
import { uploadFilesPath } from "./file-links.ts";
import { findUploadById, notePut } from "./media-queries.ts";
import type { UploadRow } from "./queries.ts";
import { alreadyUploaded, expectationOf, makeHeard, refuseArrived, tooLarge } from "./refusals.ts";
import { uploadNotFound } from "./service.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl"> & PatienceSettings;
}

/** A sender that is silent for this long is gone. */
const silenceMs = 120_000;

const corsHeaders = {
  // The link carries the permission and no cookie counts, so any page that has it may send.
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "etag, x-request-id",
};

/**
 * Takes an upload's file by PUT. Not an operation of a version: the address is given by Create Upload, and its
 * signature is the permission.
 */
export function uploadFileRoutes(app: FastifyInstance, deps: Dependencies): void {
  const { db, store, signer, config } = deps;
  void app.register(
    async (scope) => {
      // The body goes to the store as it comes, whatever it calls itself.
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
          await notePut(db.kysely, upload.id);
          expectation.meet();
          const info = await receive(request, upload);
          await takeFile(deps, upload.id, info);
          return await reply.header("etag", `"${info.etag}"`).send({ success: true });
        } catch (error) {
          await makeHeard(request, reply, expectation);
          // Handled like any other it would wait for the rest of a body that is not coming.
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
            "send the headers that Create Upload gave in media.upload.headers: If-None-Match: * is missing",
          );
        refuseArrived(upload);
        const length = Number(request.headers["content-length"] ?? 0);
        if (length > Number(upload.max_upload_bytes)) throw tooLarge(upload);
        return upload;
      }

      async function receive({ raw: body, log }: FastifyRequest, upload: UploadRow) {
        const announced = body.headers["content-length"];
        const silence = new AbortController();
        const timer = setTimeout(() => silence.abort(new Error("the sender fell silent")), silenceMs);
        const heard = (): void => {
          timer.refresh();
        };
        body.on("data", heard);
        const noting = setInterval(() => {
          notePut(db.kysely, upload.id).catch((error: unknown) => {
            // It is noted again, well within the patience of the sweeps.
            log.warn({ err: error, uploadId: upload.id }, "could not note that a file is being sent");
          });
        }, noteEveryMs(config));
        // Listening to the data sets it flowing; the store decides when.
        body.pause();
        try {
          return await store.put(uploadFileKey(upload.id), body, {
            ifAbsent: true,
            maxBytes: Number(upload.max_upload_bytes),
            signal: silence.signal,
            ...(announced === undefined ? {} : { contentLength: Number(announced) }),
          });
        } catch (error) {
          if (error instanceof ObjectExistsError) throw alreadyUploaded(upload.id);
          if (error instanceof ObjectTooLargeError) throw tooLarge(upload);
          if (error instanceof BodyBrokenError)
            throw new ProblemError(
              "bad_request",
              "the file broke off on its way and nothing of it was kept; send it again to the same URL",
            );
          throw error;
        } finally {
          clearTimeout(timer);
          clearInterval(noting);
          body.off("data", heard);
        }
      }
    },
    { prefix: uploadFilesPath },
  );
}
