import { randomUUID } from "node:crypto";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { oauthPaths } from "../contract/oauth.ts";
import type { Operation } from "../contract/operation.ts";
import type { Principal } from "./access/principal.ts";
import { linkPages } from "./accounts/link-pages.ts";
import { createPasswordWork } from "./accounts/password-work.ts";
import { peopleRoutes } from "./accounts/people-routes.ts";
import { accountRoutes } from "./accounts/routes.ts";
import { sessionRoutes } from "./accounts/session-routes.ts";
import { signInPages } from "./accounts/sign-in-pages.ts";
import { singleSignOnPages } from "./accounts/single-sign-on-pages.ts";
import { teamRoutes } from "./accounts/team-routes.ts";
import { tokenRoutes } from "./accounts/token-routes.ts";
import { workspaceRoutes } from "./accounts/workspace-routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import { createViewLog } from "./audit/views.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/database.ts";
import { meetingTypeRoutes } from "./directory/meeting-type-routes.ts";
import { directoryRoutes } from "./directory/routes.ts";
import { apiPrefix, guardManagementApi, guardVersionedApi, managementPrefix, pathOf } from "./guard.ts";
import { highlightMediaRoutes } from "./highlights/media-routes.ts";
import { highlightRoutes } from "./highlights/routes.ts";
import { feedRoutes } from "./hooks/feed-routes.ts";
import { hookManagementRoutes } from "./hooks/management-routes.ts";
import { hookRoutes } from "./hooks/routes.ts";
import type { HookSender } from "./hooks/send.ts";
import { readBodies } from "./http/body-rules.ts";
import { limitBodyTime } from "./http/body-time.ts";
import { createBrokenHttp } from "./http/broken-http.ts";
import { drainOnClose } from "./http/drain.ts";
import { handleErrors, toProblem } from "./http/errors.ts";
import { limitForms } from "./http/form-limit.ts";
import { readForwardedAddresses } from "./http/forwarded.ts";
import { healthRoutes } from "./http/health.ts";
import { ProblemError, sendProblem } from "./http/problem.ts";
import { keepToHttp } from "./http/protocol.ts";
import { createRateLimiter } from "./http/rate-limit.ts";
import { referenceRoutes } from "./http/reference.ts";
import type { Api } from "./http/route.ts";
import { sendSecurityHeaders } from "./http/security-headers.ts";
import { limitHandlingTime, limitReadingTime, type TimeLimits, timeLimits } from "./http/time-limits.ts";
import { importRoutes } from "./imports/routes.ts";
import { requestUnderstanding } from "./intelligence/index.ts";
import { intelligenceRoutes } from "./intelligence/routes.ts";
import type { JobQueue } from "./jobs/queue.ts";
import type { Sealer } from "./links/sealer.ts";
import type { LinkSigner } from "./links/signer.ts";
import { mcpMetadataRoutes, mcpPath, mcpRoutes } from "./mcp/routes.ts";
import { oauthManagementRoutes } from "./oauth/management-routes.ts";
import { oauthRoutes } from "./oauth/routes.ts";
import { pageRoutes } from "./pages/page.ts";
import { sharedFileRoutes } from "./public-links/file-routes.ts";
import { publicLinkRoutes } from "./public-links/routes.ts";
import { sharedRoutes } from "./public-links/shared-routes.ts";
import { recordingAssetRoutes } from "./recording-data/asset-routes.ts";
import { recordingDataRoutes } from "./recording-data/routes.ts";
import { recordingManagementRoutes } from "./recordings/delete-routes.ts";
import { recordingMediaRoutes } from "./recordings/media-routes.ts";
import { recordingRoutes } from "./recordings/routes.ts";
import { erasureRoutes } from "./retention/erasure-routes.ts";
import { retentionRoutes } from "./retention/routes.ts";
import { searchRoutes } from "./search/routes.ts";
import type { ObjectStore } from "./storage/store.ts";
import { storyRoutes } from "./stories/routes.ts";
import { transcriptRoutes } from "./transcripts/routes.ts";
import { uploadFileRoutes } from "./uploads/file-routes.ts";
import { notificationRoutes } from "./uploads/notification-routes.ts";
import { resumableRoutes } from "./uploads/resumable.ts";
import { uploadRoutes } from "./uploads/routes.ts";
import { webAppRoutes } from "./web/routes.ts";

export interface AppDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly sealer: Sealer;
  readonly sender: HookSender;
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  /** Told when all is there that requests need; without, it is from the beginning. */
  readonly started?: { readonly isComplete: boolean };
  /** Folder of the built web app; null where there is none. */
  readonly webFolder: string | null;
  /** Check also the answers that go out unparsed; the tests turn it on. */
  readonly checkReady?: boolean;
  /** Other limits of time than the usual ones; for tests. */
  readonly limits?: Partial<TimeLimits>;
}

/** How long requests in flight may go on after the signal to stop. */
const drainMs = 20_000;

/** The HTTP side of Parley: every feature by name, in the order a request meets them. */
export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { db, jobs, store, signer, sealer, sender, config, log } = dependencies;
  const limits = { ...timeLimits, ...dependencies.limits };
  const brokenHttp = createBrokenHttp();
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1000 },
    frameworkErrors: (error, request, reply) => sendProblem(request, reply, toProblem(error)),
    clientErrorHandler: brokenHttp.answer,
    forceCloseConnections: "idle",
    // Nobody else is believed who says on whose behalf a request comes.
    ...(config.trustedProxies.length === 0 ? {} : { trustProxy: [...config.trustedProxies] }),
    bodyLimit: 1024 * 1024,
    // Bodies have a limit of their own below: a file may take hours.
    requestTimeout: 0,
    // A missing Host header is answered below, like every other error.
    http: {
      requireHostHeader: false,
      maxHeaderSize: 16 * 1024,
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: Math.min(5000, limits.headersMs),
    },
  });
  app.decorateRequest("principal", null as unknown as Principal);
  app.decorateRequest("transcriptVersion", null);
  app.decorateRequest("apiVersion", null);
  app.decorate("passwordWork", createPasswordWork());
  app.decorate("ownOrigin", new URL(config.baseUrl).origin);
  handleErrors(app);
  brokenHttp.watch(app);
  keepToHttp(app);
  readForwardedAddresses(app, config);
  limitBodyTime(app, limits.bodyMs, brokenHttp.answer);
  limitHandlingTime(app, limits.handlingMs);
  limitReadingTime(app, limits.readingMs);
  readBodies(app);
  sendSecurityHeaders(app, config);
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
  const limiter = createRateLimiter({
    pool: db.pool,
    onError: (error) => log.warn({ err: error }, "could not share rate limit counts; counting alone"),
  });
  app.addHook("onClose", () => limiter.close());
  const views = createViewLog(db);
  healthRoutes(app, { db, store, started: dependencies.started ?? { isComplete: true } });
  referenceRoutes(app, operations, config);
  await app.register(
    async (scope) => {
      guardVersionedApi(scope, { db, config, limiter });
      const api: Api = {
        app: scope,
        prefix: apiPrefix,
        operations,
        checkReady: dependencies.checkReady ?? false,
      };
      accountRoutes(api);
      directoryRoutes(api, { db });
      recordingRoutes(api, { db, store, signer, views, config });
      uploadRoutes(api, { db, jobs, store, signer, config });
      hookRoutes(api, { db, sender, sealer });
    },
    { prefix: apiPrefix },
  );
  await app.register(
    async (scope) => {
      guardManagementApi(scope, { db, config, limiter });
      const api: Api = {
        app: scope,
        prefix: managementPrefix,
        operations,
        checkReady: dependencies.checkReady ?? false,
      };
      highlightRoutes(api, { db, jobs, signer, config });
      storyRoutes(api, { db, jobs, signer, config });
      publicLinkRoutes(api, { db, jobs, signer, config });
      sharedRoutes(api, { db, store, signer, config });
      hookManagementRoutes(api, { db, jobs, sealer, config });
      feedRoutes(api, { db, signer, config });
      recordingManagementRoutes(api, { db, store });
      searchRoutes(api, { db, config });
      recordingDataRoutes(api, { db, store, signer, views, config });
      meetingTypeRoutes(api, { db });
      importRoutes(api, { db, jobs, store, signer, config });
      transcriptRoutes(api, {
        db,
        jobs,
        views,
        config,
        onTranscript: (tx, recording) => requestUnderstanding(tx, jobs, config, recording),
      });
      intelligenceRoutes(api, { db, jobs, config });
      auditRoutes(api, { db, config });
      sessionRoutes(api, { db, config });
      peopleRoutes(api, { db, jobs, sealer, config });
      teamRoutes(api, { db });
      workspaceRoutes(api, { db, config });
      tokenRoutes(api, { db, config });
      oauthManagementRoutes(api, { db, config });
      retentionRoutes(api, { db, config });
      erasureRoutes(api, { db, jobs, sealer, config });
    },
    { prefix: managementPrefix },
  );
  mcpMetadataRoutes(app, { config });
  await app.register(
    async (scope) => {
      guardManagementApi(scope, { db, config, limiter });
      mcpRoutes(scope, { config });
    },
    { prefix: mcpPath },
  );
  // For people without the web app, and for apps that ask for a token.
  pageRoutes(app);
  await app.register(async (scope) => {
    limitForms(scope, { limiter, config });
    await signInPages(scope, { db, config });
    await linkPages(scope, { db, jobs, config });
  });
  await singleSignOnPages(app, { db, sealer, config });
  await app.register(async (scope) => {
    limitForms(scope, { limiter, config }, [oauthPaths.authorize]);
    await oauthRoutes(scope, {
      db,
      signer,
      config,
      otherWaysToSignIn:
        config.singleSignOn === null ? null : (next) => `/sign-in?next=${encodeURIComponent(next)}`,
    });
  });
  // By signed links, without a version or a token.
  uploadFileRoutes(app, { db, jobs, store, signer, config });
  resumableRoutes(app, { db, jobs, store, signer, config, log });
  recordingAssetRoutes(app, { store, signer });
  recordingMediaRoutes(app, { db, store, signer, views });
  highlightMediaRoutes(app, { db, store, signer });
  sharedFileRoutes(app, { db, store, signer, limiter, config });
  notificationRoutes(app, { db, jobs, store, config });
  await webAppRoutes(app, { db, signer, config, folder: dependencies.webFolder });
  return app;
}

/** One line for each answer: what was asked and how it went, never who with or what was said. */
function logAnswers(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({
      "x-request-id": request.id,
      "cache-control": "no-store",
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
