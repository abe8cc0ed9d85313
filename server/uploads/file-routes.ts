import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Uuid } from "../../contract/common.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { discardBody } from "../http/errors.ts";
import { ProblemError } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { LinkFault, LinkSigner } from "../links/signer.ts";
import { uploadFileKey } from "../storage/layout.ts";
import {
  BodyBrokenError,
  ObjectExistsError,
  type ObjectStore,
  ObjectTooLargeError,
} from "../storage/store.ts";
import { fileReceived } from "./arrival.ts";
import { uploadFilesPath } from "./file-links.ts";
import { findUploadById } from "./media-queries.ts";
import type { UploadRow } from "./queries.ts";
import { uploadNotFound } from "./service.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl">;
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
  const { db, jobs, store, signer } = deps;
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
        try {
          const upload = await mayPut(request);
          if (request.headers.expect !== undefined) reply.raw.writeContinue();
          const info = await receive(request.raw, upload);
          await fileReceived({ db, jobs }, upload.id);
          return await reply.header("etag", `"${info.etag}"`).send({ success: true });
        } catch (error) {
          // Whoever still sends gets to read why it is refused, and the rest is not waited for.
          if (!request.raw.complete) {
            reply.header("connection", "close");
            await discardBody(request.raw);
          }
          throw error;
        }
      });

      async function mayPut(request: FastifyRequest): Promise<UploadRow> {
        const uploadId = Uuid.safeParse(
          (request.params as { upload_id: string }).upload_id,
        ).data?.toLowerCase();
        if (uploadId === undefined) throw new ProblemError("not_found", "nothing is here");
        refuseLink(signer.check("upload", uploadId, request.query, new Date()));
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

      async function receive(body: IncomingMessage, upload: UploadRow) {
        const announced = body.headers["content-length"];
        const silence = new AbortController();
        const timer = setTimeout(() => silence.abort(new Error("the sender fell silent")), silenceMs);
        const heard = (): void => {
          timer.refresh();
        };
        body.on("data", heard);
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
          body.off("data", heard);
        }
      }
    },
    { prefix: uploadFilesPath },
  );
}

/** Refuses a link that is not or no longer good. */
export function refuseLink(fault: LinkFault | null): void {
  if (fault === "invalid")
    throw new ProblemError(
      "link_invalid",
      "the signature of this address is missing or wrong; use it exactly as it was given",
    );
  if (fault === "expired")
    throw new ProblemError("link_expired", "this address has expired; ask for a new one");
}

/** Refuses a file for an upload that has one, or takes none any more. */
export function refuseArrived(upload: UploadRow): void {
  if (upload.received_at !== null) throw alreadyUploaded(upload.id);
  if (upload.status !== "awaiting")
    throw new ProblemError("wrong_state", `upload ${upload.id} is ${upload.status} and takes no file`);
}

export function alreadyUploaded(uploadId: string): ProblemError {
  return new ProblemError(
    "already_uploaded",
    `the file of upload ${uploadId} has arrived already; a second one is not taken`,
  );
}

export function tooLarge(upload: UploadRow): ProblemError {
  return new ProblemError(
    "body_too_large",
    `the file may have at most ${upload.max_upload_bytes} bytes; nothing of it was kept`,
  );
}
