import { randomUUID } from "node:crypto";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Operation } from "../contract/operation.ts";
import { RecordingParams } from "../contract/recordings.ts";
import type { Principal } from "./access/principal.ts";
import { authenticate } from "./accounts/authenticate.ts";
import { accountRoutes } from "./accounts/routes.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/database.ts";
import { directoryRoutes } from "./directory/routes.ts";
import { readBodies } from "./http/body-rules.ts";
import { limitBodyTime } from "./http/body-time.ts";
import { createBrokenHttp } from "./http/broken-http.ts";
import { drainOnClose } from "./http/drain.ts";
import { handleErrors, toProblem } from "./http/errors.ts";
import { healthRoutes } from "./http/health.ts";
import { ProblemError, sendProblem } from "./http/problem.ts";
import { keepToHttp } from "./http/protocol.ts";
import { applyAllowance, createRateLimiter } from "./http/rate-limit.ts";
import { referenceRoutes } from "./http/reference.ts";
import { type Api, checkPath } from "./http/route.ts";
import { announceLifecycle, effectiveVersions, rateShare, readVersion } from "./http/version-gate.ts";
import type { JobQueue } from "./jobs/queue.ts";
import type { LinkSigner } from "./links/signer.ts";
import { recordingMediaRoutes } from "./recordings/media-routes.ts";
import { recordingRoutes } from "./recordings/routes.ts";
import type { ObjectStore } from "./storage/store.ts";
import { uploadFileRoutes } from "./uploads/file-routes.ts";
import { notificationRoutes } from "./uploads/notification-routes.ts";
import { resumableRoutes } from "./uploads/resumable.ts";
import { uploadRoutes } from "./uploads/routes.ts";

export interface AppDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  /** Told when all is there that requests need; without, it is from the beginning. */
  readonly started?: { readonly isComplete: boolean };
  /** Check also the answers that go out unparsed; the tests turn it on. */
  readonly checkReady?: boolean;
}

/** How long requests in flight may go on after the signal to stop. */
const drainMs = 20_000;

/** A client that sends for longer is not sending a transcript. */
const bodyTimeMs = 120_000;

/** Where the contract's versioned operations live. */
export const apiPrefix = "/_/public-api/v2";

/** The HTTP side of Parley: every feature by name, in the order a request meets them. */
export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { db, jobs, store, signer, config, log } = dependencies;
  const brokenHttp = createBrokenHttp();
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1000 },
    frameworkErrors: (error, request, reply) => sendProblem(request, reply, toProblem(error)),
    clientErrorHandler: brokenHttp.answer,
    forceCloseConnections: "idle",
    bodyLimit: 1024 * 1024,
    // Bodies have a limit of their own below: a file may take hours.
    requestTimeout: 0,
    // A missing Host header is answered below, like every other error.
    http: { requireHostHeader: false, headersTimeout: 60_000 },
  });
  app.decorateRequest("principal", null as unknown as Principal);
  app.decorateRequest("transcriptVersion", null);
  handleErrors(app);
  brokenHttp.watch(app);
  keepToHttp(app);
  limitBodyTime(app, bodyTimeMs, brokenHttp.answer);
  readBodies(app);
  logAnswers(app);
  drainOnClose(app, drainMs);
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      request,
      reply,
      new ProblemError("not_found", `nothing is at ${request.method} ${pathOf(request.url)}`),
    ),
  );

  const operations: Operation[] = [];
  healthRoutes(app, { db, store, started: dependencies.started ?? { isComplete: true } });
  referenceRoutes(app, operations);
  await app.register(
    async (scope) => {
      guardVersionedApi(scope, dependencies);
      const api: Api = {
        app: scope,
        prefix: apiPrefix,
        operations,
        checkReady: dependencies.checkReady ?? false,
      };
      accountRoutes(api);
      directoryRoutes(api, { db });
      recordingRoutes(api, { db, store, signer, config });
      uploadRoutes(api, { db, jobs, store, signer, config });
    },
    { prefix: apiPrefix },
  );
  // By signed links, without a version or a token.
  uploadFileRoutes(app, { db, jobs, store, signer, config });
  resumableRoutes(app, { db, jobs, store, signer, config, log });
  recordingMediaRoutes(app, { db, store, signer });
  notificationRoutes(app, { db, jobs, store, config });
  return app;
}

/**
 * The order of checks (design, section 4): version header, then token, then rate limit, then path; body and
 * permission follow in the route. A caller without a good token is counted by address.
 */
function guardVersionedApi(scope: FastifyInstance, { db, config, log }: AppDependencies): void {
  const versions = effectiveVersions(config.versionStatus);
  const limiter = createRateLimiter({
    pool: db.pool,
    onError: (error) => log.warn({ err: error }, "could not share rate limit counts; counting alone"),
  });
  scope.addHook("onClose", () => limiter.close());
  // An encapsulated handler makes unknown paths below the prefix pass the hook below, which refuses them.
  scope.setNotFoundHandler((request) => {
    throw noSuchOperation(request);
  });

  scope.addHook("onRequest", async (request, reply) => {
    const limit = config.rateLimitPerMinute;
    try {
      const version = readVersion(request, versions);
      announceLifecycle(reply, version);
      const caller = await authenticate(db.pool, request, askedRecording(request));
      request.principal = caller.principal;
      request.transcriptVersion = caller.transcriptVersion ?? null;
      if (limit > 0) {
        const share = Math.max(1, Math.floor(limit * rateShare(version, new Date())));
        applyAllowance(reply, await limiter.take(`token:${request.principal.tokenId}`, share));
      }
      if (request.is404) throw noSuchOperation(request);
      checkPath(request, version.name);
    } catch (error) {
      const isUncounted = request.principal === null;
      if (isUncounted && limit > 0) applyAllowance(reply, await limiter.take(`address:${request.ip}`, limit));
      throw error;
    }
  });
}

/** The recording whose transcript version the route needs, when the address names one. */
function askedRecording(request: FastifyRequest): string | undefined {
  if (!request.routeOptions.config.needsTranscriptVersion) return undefined;
  const params = RecordingParams.safeParse(request.params);
  return params.success ? params.data.recording_id : undefined;
}

function noSuchOperation(request: FastifyRequest): ProblemError {
  return new ProblemError(
    "not_found",
    `the API has no operation ${request.method} ${pathOf(request.url)}; see /docs`,
  );
}

/** One line for each answer: what was asked and how it went, never who with or what was said. */
function logAnswers(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({
      "x-request-id": request.id,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
  });
  app.addHook("onResponse", async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      "answered",
    );
  });
}

/** The path as the client wrote it, without a query, which could hold anything, and cut to a readable length. */
function pathOf(url: string): string {
  return (url.split("?", 1)[0] ?? "").slice(0, 200);
}
