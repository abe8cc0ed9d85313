import { Readable } from "node:stream";
import { EXPOSED_HEADERS, Server, TUS_RESUMABLE } from "@tus/server";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Uuid } from "../../contract/common.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { ProblemError, sendProblem } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { refuseLink } from "../links/read-link.ts";
import type { LinkSigner } from "../links/signer.ts";
import type { ObjectStore } from "../storage/store.ts";
import type { PatienceSettings } from "./activity.ts";
import { resumablePath } from "./file-links.ts";
import { findUploadById } from "./media-queries.ts";
import type { UploadRow } from "./queries.ts";
import { type Expectation, expectationOf, makeHeard, refuseArrived, tooLarge } from "./refusals.ts";
import { createLeaseLocker } from "./resumable-lease.ts";
import { createResumableStore } from "./resumable-store.ts";
import { uploadNotFound } from "./service.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl" | "maxUploadBytes"> & PatienceSettings;
  readonly log: FastifyBaseLogger;
}

type TusRequest = Parameters<Server["handleWeb"]>[0];

/** A connection on which nothing moves for this long is given up; what came over it is kept. */
const silenceMs = 120_000;

/**
 * How long a request goes on after another one has asked for its place. The tus server gives it three seconds to come
 * to its end, but a sender only comes back when it has given the old connection up.
 */
const handOverMs = 100;

/** What of a request the tus server is to see; it would refuse values of proxies that it does not know. */
const tusHeaders = /^(?:upload-|tus-|content-(?:type|length)$|origin$)/i;

/**
 * Resumable upload by tus 1.0 (https://tus.io/protocols/resumable-upload), below `media.upload.tus_url`. One address
 * is both: POST begins (tus, Creation) and is answered with the very same address, HEAD, PATCH and DELETE go on.
 * A POST where pieces are already begins anew.
 */
export function resumableRoutes(app: FastifyInstance, deps: Dependencies): void {
  const { signer, config, log } = deps;
  const db = deps.db.kysely;
  const locker = createLeaseLocker({ db: deps.db, log });
  const failures = new WeakMap<object, unknown>();
  const tus = new Server({
    path: resumablePath,
    datastore: createResumableStore({ ...deps, locker }),
    locker,
    lockDrainTimeout: handOverMs,
    // Told in OPTIONS; the limit of an upload is its own, and is looked at below and in the store.
    maxSize: (_request, uploadId) => (uploadId === null ? config.maxUploadBytes : 0),
    allowedHeaders: ["X-Request-ID"],
    exposedHeaders: ["X-Request-Id"],
    namingFunction: (request) => idIn(request),
    getFileIdFromRequest: (request) => idIn(request),
    generateUrl: (request, { id }) => `${config.baseUrl}${resumablePath}/${id}${new URL(request.url).search}`,
    onResponseError: (request, error) => {
      failures.set(request, error);
      return undefined;
    },
  });
  // Requests that are writing would outlast the patience of a stopping server.
  app.addHook("preClose", async () => locker.releaseAll());

  void app.register(
    async (scope) => {
      // The body goes to the store as it comes.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
      scope.addHook("onRequest", async (_request, reply) => {
        reply.headers({
          "tus-resumable": TUS_RESUMABLE,
          // The link carries the permission and no cookie counts, so any page that has it may send.
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
            letGo(request);
            await makeHeard(request, reply, expectation);
            // Handled like any other it would wait for the rest of a body that is not coming.
            if (expectation.isOpen && error instanceof ProblemError)
              return sendProblem(request, reply, error);
            throw error;
          }
        },
      });
    },
    { prefix: resumablePath },
  );

  async function serve(
    request: FastifyRequest,
    reply: FastifyReply,
    expectation: Expectation,
  ): Promise<FastifyReply> {
    const uploadId = Uuid.safeParse((request.params as { upload_id: string }).upload_id).data?.toLowerCase();
    if (uploadId === undefined) throw new ProblemError("not_found", "nothing is here");
    const method = methodOf(request);
    // A browser asks by OPTIONS what it may send; that is the same for every link.
    if (method !== "OPTIONS") await admit(request, method, uploadId);
    expectation.meet();
    request.raw.setTimeout(silenceMs);
    const tusRequest = toTusRequest(request, reply, method, uploadId);
    const response = await tus.handleWeb(tusRequest);
    throwOurs(failures.get(tusRequest));
    if (response.status >= 400) {
      letGo(request);
      await makeHeard(request, reply, expectation);
    }
    for (const [name, value] of response.headers) if (name !== "content-length") reply.header(name, value);
    return reply.code(response.status).send(response.status === 204 ? undefined : await response.text());
  }

  /**
   * Who may send what where. A link lasts a day, a file on a slow line may take longer: as long as an upload is not
   * given up (`uploads.active_at`, noted at least every minute while bytes come, is within the same grace that
   * `failExpiredUploads` goes by) its sender may go on with a link that was rightly signed and has expired meanwhile.
   * Beginning takes a link that is good.
   */
  async function admit(request: FastifyRequest, method: string, uploadId: string): Promise<void> {
    const fault = signer.check("resume", uploadId, request.query, new Date());
    if (fault !== "expired" || method === "POST") refuseLink(fault);
    const upload = await findUploadById(db, uploadId);
    if (upload === undefined) throw uploadNotFound(uploadId);
    if (!isInProgress(upload)) refuseLink(fault);
    // How far a file came may be asked for also when all of it came.
    if (method !== "HEAD") refuseArrived(upload);
    if (Number(request.headers["upload-length"]) > Number(upload.max_upload_bytes)) throw tooLarge(upload);
  }

  function isInProgress({ active_at }: UploadRow): boolean {
    return active_at !== null && active_at.getTime() > Date.now() - config.uploadExpiryGraceMs;
  }
}

/** Some clients and proxies know only POST; tus-js-client's overridePatchMethod is one. */
function methodOf(request: FastifyRequest): string {
  const asked = request.headers["x-http-method-override"];
  return request.method === "POST" && typeof asked === "string" && /^(?:PATCH|DELETE|HEAD)$/.test(asked)
    ? asked
    : request.method;
}

/** The request as the tus server takes it. Its Content-Type is taken from the wire: body-rules.ts has replaced it. */
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
  // With it the tus server notices that a client is gone, and keeps what has come so far.
  return Object.assign(request, {
    runtime: { name: "node", node: { req: raw, res: reply.raw } },
  }) as TusRequest;
}

function idIn(request: TusRequest): string {
  return new URL(request.url).pathname.slice(1);
}

/** Throws what is ours to answer; the protocol's own errors are plain objects and stand as the tus server words them. */
function throwOurs(failure: unknown): void {
  if ((failure as { status_code?: unknown } | undefined)?.status_code === 413)
    throw new ProblemError("body_too_large", "more bytes came than Upload-Length announced");
  if (failure instanceof Error) throw failure;
}

/** The tus server's stream over the body would hold it back. */
function letGo({ raw }: FastifyRequest): void {
  if (!raw.complete) raw.removeAllListeners("data");
}
