import { Readable } from "node:stream";
import type { Server as TusServer } from "@tus/server";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Uuid } from "../../../../contract/common.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError, sendProblem } from "../../../platform/http/errors/problem.ts";
import { refuseLink } from "../../../platform/http/files/read-link.ts";
import { watch } from "../../../platform/http/files/watch-access.ts";
import { registerScope } from "../../../platform/http/scope.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { graceMsOf, isBegunRecording, type SweepTimeouts } from "../lifecycle/activity.ts";
import { createSenderCheck, refuseEndedAccess } from "../lifecycle/end-access.ts";
import { findUploadById } from "../media-queries.ts";
import { uploadNotFound } from "../not-found.ts";
import type { UploadRow } from "../queries.ts";
import { resumablePath } from "./file-links.ts";
import { drainBeforeRefusal, type Expectation, expectationOf, refuseArrived, tooLarge } from "./refusals.ts";
import { createLeaseLocker } from "./resumable-lease.ts";
import type { TusRequest } from "./resumable-server.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl" | "maxUploadBytes" | "storageBytesPerWorkspace"> & SweepTimeouts;
  readonly log: FastifyBaseLogger;
}

/** An idle connection is closed after this long; the bytes received over it are kept. */
const silenceMs = 120_000;

/** The request headers that the tus server sees; it would refuse values that proxies add. */
const tusHeaders = /^(?:upload-|tus-|content-(?:type|length)$|origin$)/i;

/**
 * Resumable uploads by tus 1.0 (https://tus.io/protocols/resumable-upload), below `media.upload.tus_url`. There is one
 * URL: POST begins (tus, Creation) and returns the same URL, HEAD, PATCH and DELETE continue. A POST when pieces exist
 * starts again from the beginning; it is refused while the file's length is unknown.
 */
export function resumableRoutes(app: FastifyInstance, deps: Dependencies): void {
  const { signer, config, log } = deps;
  const db = deps.db.kysely;
  const maySend = createSenderCheck(db);
  const locker = createLeaseLocker({ db: deps.db, log });
  const failures = new WeakMap<object, unknown>();
  const openTusServer = async (): Promise<TusServer> => {
    const { createTusServer } = await import("./resumable-server.ts");
    return createTusServer({ ...deps, locker }, (request, error) => failures.set(request, error));
  };
  // Opened by the first request, which loads the protocol's library.
  let tusServer: Promise<TusServer> | undefined;
  // Requests that are writing would exceed the grace period of a stopping server.
  app.addHook("preClose", async () => locker.releaseAll());

  void registerScope(
    app,
    async (scope) => {
      // The body is streamed to the store.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
      scope.addHook("onRequest", async (_request, reply) => {
        const { EXPOSED_HEADERS, TUS_RESUMABLE } = await import("@tus/server");
        reply.headers({
          "tus-resumable": TUS_RESUMABLE,
          // The signed URL is the permission and no cookie counts, so any page that has the URL may send.
          "access-control-allow-origin": "*",
          "access-control-expose-headers": `${EXPOSED_HEADERS}, X-Request-Id`,
        });
      });
      scope.route({
        method: ["POST", "HEAD", "PATCH", "DELETE", "OPTIONS"],
        url: "/:upload_id",
        config: { takesFiles: true },
        handler: async (request, reply) => {
          const expectation = expectationOf(request, reply);
          try {
            return await serve(request, reply, expectation);
          } catch (error) {
            detachBody(request);
            await drainBeforeRefusal(request, reply, expectation);
            // The usual error handling would wait for the rest of a body that is not coming.
            if (expectation.isOpen && error instanceof ProblemError)
              return sendProblem(request, reply, error);
            throw error;
          }
        },
      });
    },
    resumablePath,
  );

  async function serve(
    request: FastifyRequest,
    reply: FastifyReply,
    expectation: Expectation,
  ): Promise<FastifyReply> {
    const uploadId = Uuid.safeParse((request.params as { upload_id: string }).upload_id).data?.toLowerCase();
    if (uploadId === undefined) throw new ProblemError("not_found", "nothing is here");
    const method = methodOf(request);
    // A browser's preflight request; its response is the same for every URL.
    const upload = method === "OPTIONS" ? null : await admit(request, method, uploadId);
    if (upload !== null) watch(reply.raw, () => maySend(upload.id));
    expectation.meet();
    request.raw.setTimeout(silenceMs);
    const tusRequest = toTusRequest(request, reply, method, uploadId);
    // A sender that declared the length but lost the response repeats it, which the tus server would refuse.
    if (method === "PATCH" && upload?.resumable_length === tusRequest.headers.get("upload-length"))
      tusRequest.headers.delete("upload-length");
    tusServer ??= openTusServer();
    const response = await (await tusServer).handleWeb(tusRequest);
    throwOurs(failures.get(tusRequest));
    if (response.status >= 400) {
      detachBody(request);
      await drainBeforeRefusal(request, reply, expectation);
    }
    for (const [name, value] of response.headers) if (name !== "content-length") reply.header(name, value);
    return reply.code(response.status).send(response.status === 204 ? undefined : await response.text());
  }

  /**
   * Checks who may send what where. A URL is valid for a day, and a file on a slow line may take longer: until the
   * upload is failed (`uploads.active_at`, updated at least every minute while bytes arrive, is within the grace period
   * of `failExpiredUploads`) its sender may continue with a correctly signed URL that has expired in the meantime.
   * Starting takes an unexpired URL.
   */
  async function admit(request: FastifyRequest, method: string, uploadId: string): Promise<UploadRow> {
    const fault = signer.check("resume", uploadId, request.query, new Date());
    if (fault !== "expired" || method === "POST") refuseLink(fault);
    const upload = await findUploadById(db, uploadId);
    if (upload === undefined) throw uploadNotFound(uploadId);
    await refuseEndedAccess(db, upload);
    if (!isInProgress(upload)) refuseLink(fault);
    // The offset may be requested even when the whole file has arrived.
    if (method !== "HEAD") refuseArrived(upload);
    if (Number(request.headers["upload-length"]) > Number(upload.max_upload_bytes)) throw tooLarge(upload);
    return upload;
  }

  function isInProgress(upload: UploadRow): boolean {
    const { active_at } = upload;
    return (
      active_at !== null && active_at.getTime() > Date.now() - graceMsOf(isBegunRecording(upload), config)
    );
  }
}

/** Some clients and proxies know only POST; tus-js-client's overridePatchMethod is one. */
function methodOf(request: FastifyRequest): string {
  const asked = request.headers["x-http-method-override"];
  return request.method === "POST" && typeof asked === "string" && /^(?:PATCH|DELETE|HEAD)$/.test(asked)
    ? asked
    : request.method;
}

/**
 * The request as the tus server expects it. Its Content-Type is the one that was sent: body-rules.ts has replaced it.
 */
function toTusRequest(
  { raw, query }: FastifyRequest,
  reply: FastifyReply,
  method: string,
  uploadId: string,
): TusRequest {
  const headers = new Headers();
  for (let index = 0; index < raw.rawHeaders.length; index += 2) {
    const [name = "", value = ""] = raw.rawHeaders.slice(index, index + 2);
    if (tusHeaders.test(name)) headers.append(name, value);
  }
  const hasPiece = headers.get("content-type") === "application/offset+octet-stream";
  const url = new URL(`http://tus/${uploadId}`);
  url.search = new URLSearchParams(query as Record<string, string>).toString();
  const request = new Request(url, {
    method,
    headers,
    ...(hasPiece && /^(?:POST|PATCH)$/.test(method)
      ? { body: Readable.toWeb(raw) as ReadableStream, duplex: "half" }
      : {}),
  });
  // With it the tus server notices that a client is gone, and keeps what has arrived so far.
  return Object.assign(request, {
    runtime: { name: "node", node: { req: raw, res: reply.raw } },
  }) as TusRequest;
}

/** Throws the errors that we handle; the protocol's own errors are plain objects and keep the tus server's wording. */
function throwOurs(failure: unknown): void {
  if ((failure as { status_code?: unknown } | undefined)?.status_code === 413)
    throw new ProblemError("body_too_large", "the body has more bytes than Upload-Length states");
  if (failure instanceof Error) throw failure;
}

/** The tus server's own stream would buffer the body. */
function detachBody({ raw }: FastifyRequest): void {
  if (!raw.complete) raw.removeAllListeners("data");
}
