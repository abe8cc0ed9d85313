import { randomUUID } from "node:crypto";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from "fastify";
import { mcpPath } from "../contract/accounts/oauth.ts";
import type { Operation } from "../contract/operation.ts";
import { calendarRoutes } from "./connections/calendars/routes.ts";
import { deliveryRoutes } from "./connections/deliveries/routes.ts";
import { documentRoutes } from "./connections/documents/routes.ts";
import { connectionRoutes } from "./connections/imports/connect/routes.ts";
import { connectionWebhookRoutes } from "./connections/imports/connect/webhook-route.ts";
import { importRoutes } from "./connections/imports/routes.ts";
import { findByOldId } from "./connections/imports/runs/queries.ts";
import { importRunRoutes } from "./connections/imports/runs/routes.ts";
import { mcpMetadataRoutes, mcpRoutes } from "./connections/mcp/routes.ts";
import { hookRoutes } from "./connections/webhooks/api/routes.ts";
import { feedRoutes } from "./connections/webhooks/feed/routes.ts";
import { hookManagementRoutes } from "./connections/webhooks/management/routes.ts";
import { createHostLimit } from "./connections/webhooks/transport/host-limit.ts";
import type { HookSender } from "./connections/webhooks/transport/send.ts";
import { auditRoutes } from "./governance/audit/routes.ts";
import { erasureRoutes } from "./governance/retention/erasure/routes.ts";
import { retentionRoutes } from "./governance/retention/routes.ts";
import {
  apiPrefix,
  guardManagementApi,
  guardMcp,
  guardVersionedApi,
  managementPrefix,
  pathOf,
} from "./guard.ts";
import { sampleRoutes } from "./operations/samples/routes.ts";
import { modelRoutes } from "./operations/system/model-routes.ts";
import { managesSystem } from "./operations/system/operator.ts";
import { systemRoutes } from "./operations/system/routes.ts";
import { settingsRoutes } from "./operations/system/settings/routes.ts";
import { createSignInTest } from "./operations/system/settings/sign-in-test.ts";
import { webAppRoutes } from "./operations/web/routes.ts";
import { createViewCheck } from "./people/access/viewer.ts";
import { mailOf } from "./people/accounts/one-time-links/account-changes.ts";
import { linkPages } from "./people/accounts/pages/link-pages.ts";
import { signInPages } from "./people/accounts/pages/sign-in-pages.ts";
import { passkeyRoutes } from "./people/accounts/passkeys/routes.ts";
import { accountRoutes } from "./people/accounts/routes.ts";
import { secondFactorRoutes } from "./people/accounts/second-factor/routes.ts";
import { mailNewDevice } from "./people/accounts/security/new-device-mail.ts";
import { securityRoutes } from "./people/accounts/security/routes.ts";
import { setDeviceCookies } from "./people/accounts/sign-in/devices.ts";
import { createPasswordWork } from "./people/accounts/sign-in/password-work.ts";
import type { PasswordCost } from "./people/accounts/sign-in/passwords.ts";
import { connectRoutes } from "./people/accounts/sso/connect-routes.ts";
import { createOpenProvider } from "./people/accounts/sso/open-provider.ts";
import { singleSignOnRoutes } from "./people/accounts/sso/routes.ts";
import { teamRoutes } from "./people/accounts/teams/team-routes.ts";
import { tokenRoutes } from "./people/accounts/tokens/token-routes.ts";
import { userRoutes } from "./people/accounts/users/routes.ts";
import {
  createPresentMe,
  type PresentDependencies,
  sessionRoutes,
} from "./people/accounts/users/session-routes.ts";
import { domainRoutes } from "./people/accounts/workspaces/domain-routes.ts";
import { workspaceRoutes } from "./people/accounts/workspaces/workspace-routes.ts";
import { meetingTypeRoutes } from "./people/directory/meeting-type-routes.ts";
import { directoryRoutes, invitedUserRoutes } from "./people/directory/routes.ts";
import { oauthManagementRoutes } from "./people/oauth/clients/management-routes.ts";
import { createDocumentFetcher } from "./people/oauth/clients/self-registered/documents.ts";
import { oauthRoutes } from "./people/oauth/routes.ts";
import { createTrustedOrigins } from "./people/oauth/trusted-origins.ts";
import { scimRoutes } from "./people/scim/routes.ts";
import { scimTokenRoutes } from "./people/scim/tokens/token-routes.ts";
import type { Config } from "./platform/config/config.ts";
import { findProviderOf } from "./platform/config/sign-in-providers.ts";
import type { Encryptor } from "./platform/crypto/encryptor.ts";
import type { LinkSigner } from "./platform/crypto/link-signer.ts";
import type { Database } from "./platform/db/database.ts";
import type { VersionWatch } from "./platform/db/oldest-version.ts";
import type { EventLoopWatch } from "./platform/event-loop.ts";
import { readBodies } from "./platform/http/body/body-rules.ts";
import { limitBodyTime } from "./platform/http/body/body-timeout.ts";
import { handleErrors, toProblem } from "./platform/http/errors/errors.ts";
import { ProblemError, sendProblem } from "./platform/http/errors/problem.ts";
import { limitForms } from "./platform/http/limits/form-limit.ts";
import { createRateLimiter } from "./platform/http/limits/rate-limit.ts";
import {
  limitHandlingTime,
  limitReadingTime,
  type TimeLimits,
  timeLimits,
} from "./platform/http/limits/time-limits.ts";
import { drainOnClose } from "./platform/http/listening/drain.ts";
import { healthRoutes } from "./platform/http/listening/health.ts";
import { httpOptions, type Listener } from "./platform/http/listening/listener.ts";
import { createMalformedHttp } from "./platform/http/listening/malformed-http.ts";
import { enforceProtocol } from "./platform/http/listening/protocol.ts";
import { refuseWhenTooOld } from "./platform/http/listening/too-old.ts";
import { readForwardedAddresses } from "./platform/http/origin/forwarded.ts";
import { checkHosts } from "./platform/http/origin/host-check.ts";
import { sendSecurityHeaders } from "./platform/http/origin/security-headers.ts";
import { referenceRoutes } from "./platform/http/reference/reference.ts";
import { securityTxtRoutes } from "./platform/http/reference/security-txt.ts";
import type { Api } from "./platform/http/routing/route.ts";
import { registerScope } from "./platform/http/scope.ts";
import type { JobQueue } from "./platform/jobs/queue.ts";
import { allowedRanges, parseRanges } from "./platform/outbound/address-ranges.ts";
import { sendNotFoundPage, wantsPage } from "./platform/pages/not-found.ts";
import { pageRoutes } from "./platform/pages/page.ts";
import type { ObjectStore } from "./platform/storage/store.ts";
import { reportRequests } from "./platform/telemetry/requests.ts";
import { traceRequests } from "./platform/telemetry/trace.ts";
import { askRoutes } from "./processing/ask/routes.ts";
import { feedbackRoutes } from "./processing/feedback/routes.ts";
import { requestSummary } from "./processing/intelligence/index.ts";
import { intelligenceRoutes } from "./processing/intelligence/routes.ts";
import { hasSpeechModel } from "./processing/models/index.ts";
import { transcriptionRoutes } from "./processing/transcription/routes.ts";
import { voiceRoutes } from "./processing/transcription/voices/routes.ts";
import { uploadManagementRoutes } from "./processing/uploads/api/management-routes.ts";
import { uploadRoutes } from "./processing/uploads/api/routes.ts";
import { requireRoom } from "./processing/uploads/quotas.ts";
import { uploadFileRoutes } from "./processing/uploads/transfer/file-routes.ts";
import { bucketNotificationRoutes } from "./processing/uploads/transfer/notification-routes.ts";
import { resumableRoutes } from "./processing/uploads/transfer/resumable.ts";
import { commentRoutes } from "./recordings/comments/routes.ts";
import { clipRoutes } from "./recordings/highlights/clip-routes.ts";
import { highlightMediaRoutes } from "./recordings/highlights/media-routes.ts";
import { highlightRoutes } from "./recordings/highlights/routes.ts";
import { libraryRoutes } from "./recordings/library/routes.ts";
import { participantRoutes } from "./recordings/participants/routes.ts";
import { recordingDataRoutes } from "./recordings/recordings/api/management-routes.ts";
import { recordingRoutes } from "./recordings/recordings/api/routes.ts";
import { recordingAssetRoutes } from "./recordings/recordings/media/asset-routes.ts";
import { recordingMediaRoutes } from "./recordings/recordings/media/routes.ts";
import { createViewLog } from "./recordings/recordings/view-log.ts";
import { searchRoutes } from "./recordings/search/routes.ts";
import { createBannerReader } from "./recordings/stories/banner.ts";
import { createImageFetcher } from "./recordings/stories/image-fetcher.ts";
import { storyRoutes } from "./recordings/stories/routes.ts";
import { transcriptRoutes } from "./recordings/transcripts/routes.ts";
import { trashRoutes } from "./recordings/trash/routes.ts";
import { accessRequestRoutes } from "./sharing/access-requests/routes.ts";
import { notificationRoutes } from "./sharing/notifications/routes.ts";
import { createNotificationStreams } from "./sharing/notifications/streams.ts";
import { unsubscribePages } from "./sharing/notifications/unsubscribe.ts";
import { publicLinkRoutes } from "./sharing/public-links/routes.ts";
import { sharedFileRoutes } from "./sharing/public-links/view/file-routes.ts";
import { publicLinkPageRoutes } from "./sharing/public-links/view/page-routes.ts";
import { createPublicLinkWords } from "./sharing/public-links/view/words.ts";

export interface AppDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly encryptor: Encryptor;
  readonly sender: HookSender;
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  /** Reads the settings of the database now. */
  readonly followSettings: () => Promise<void>;
  /** The port the server is bound to already; without one, `listen` binds it. */
  readonly listener?: Listener;
  /** Whether the process is about to stop; it still serves requests. */
  readonly draining?: { readonly isActive: boolean };
  /** Whether the database needs a newer program; without it, it never does. */
  readonly versions?: Pick<VersionWatch, "needed">;
  /** Notes which requests block the event loop; optional. */
  readonly eventLoop?: EventLoopWatch;
  /** Folder of the built web app; null where there is none. */
  readonly webFolder: string | null;
  /** Also validates responses that are sent unparsed; tests turn it on. */
  readonly checkReady?: boolean;
  /** The certificate to trust for descriptions of apps in place of the usual ones, as PEM; for tests. */
  readonly trustedCertificate?: string;
  /** IP addresses besides the public ones that may serve descriptions of apps; for tests. */
  readonly documentAddresses?: string;
  /** Time limits in place of the usual ones; for tests. */
  readonly limits?: Partial<TimeLimits>;
  /** The cost of hashing passwords in place of the usual one; for tests. */
  readonly passwordCost?: PasswordCost;
}

/** How long requests in flight may continue once the server accepts no more. */
const graceMs = 20_000;

/** The server that is bound to the port already, or how to create one. */
function serverOf(listener: Listener | undefined, limits: TimeLimits) {
  return listener === undefined
    ? { http: httpOptions(limits) }
    : { serverFactory: (handler: Parameters<Listener["attach"]>[0]) => listener.attach(handler) };
}

function noSchemas(): never {
  throw new Error("routes describe their bodies in contract/, not by a schema of Fastify's");
}

/** The HTTP server: what every request passes, then the routes of each feature, grouped by what guards them. */
export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { db, jobs, store, signer, encryptor, sender, config, log } = dependencies;
  const limits = { ...timeLimits, ...dependencies.limits };
  const { draining = { isActive: false }, versions = { needed: null } } = dependencies;
  const malformedHttp = createMalformedHttp();
  const signInTest = createSignInTest({ db, encryptor, config });
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1000 },
    frameworkErrors: (error, request, reply) => sendProblem(request, reply, toProblem(error)),
    clientErrorHandler: malformedHttp.refuse,
    forceCloseConnections: "idle",
    // Only these proxies may say which client a request comes from.
    ...(config.trustedProxies.length === 0 ? {} : { trustProxy: [...config.trustedProxies] }),
    bodyLimit: 1024 * 1024,
    // Bodies have a limit of their own below: a file may take hours.
    requestTimeout: 0,
    ...serverOf(dependencies.listener, limits),
    // A request that is already on its way when the server stops is served.
    return503OnClosing: false,
    // No route has a schema of Fastify's (routing/route.ts checks bodies), whose compilers need 100 modules.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  app.decorateRequest("principal");
  app.decorateRequest("apiVersion", null);
  app.decorate("passwordWork", createPasswordWork({ cost: dependencies.passwordCost }));
  app.decorate("ownOrigin", new URL(config.baseUrl).origin);
  const openProvider = createOpenProvider({ db, jobs, encryptor, config });
  app.decorate("acceptsIssuer", (issuer) => findProviderOf(config.signInProviders, issuer) !== undefined);
  setDeviceCookies(app, {
    baseUrl: config.baseUrl,
    jobs,
    report: (tx, userId, from) => mailNewDevice(tx, mailOf({ jobs, encryptor, config }), userId, from),
  });
  handleErrors(app);
  traceRequests(app);
  malformedHttp.watch(app);
  enforceProtocol(app);
  readForwardedAddresses(app, config);
  limitBodyTime(app, limits.bodyMs, malformedHttp.refuse);
  limitHandlingTime(app, limits.handlingMs);
  limitReadingTime(app, limits.readingMs);
  readBodies(app);
  sendSecurityHeaders(app, config);
  logResponses(app);
  reportRequests(app);
  if (dependencies.eventLoop !== undefined) noteRequests(app, dependencies.eventLoop);
  checkHosts(app, config);
  refuseWhenTooOld(app, versions);
  drainOnClose(app, { graceMs, listener: dependencies.listener, draining });
  app.setNotFoundHandler((request, reply) =>
    wantsPage(request) ? sendNotFoundPage(request, reply) : sendProblem(request, reply, nothingAt(request)),
  );
  // Refuses unknown paths before their bodies are read.
  app.addHook("preParsing", async (request) => {
    if (request.is404 && !wantsPage(request)) throw nothingAt(request);
  });

  const operations: Operation[] = [];
  const resolveOldId: Api["resolveOldId"] = (principal, oldId) => findByOldId(db.kysely, principal, oldId);
  const limiter = createRateLimiter({
    pool: db.pool,
    onError: (error) => log.warn({ err: error }, "could not share rate limit counts; counting alone"),
  });
  app.addHook("onClose", () => limiter.close());
  const hostLimit = createHostLimit(limiter, config.hookRequestsPerHostPerMinute);
  const images = createImageFetcher({ allowAddresses: allowedRanges(config) });
  app.addHook("onClose", () => images.close());
  const documents = createDocumentFetcher({
    allowAddresses: parseRanges(dependencies.documentAddresses ?? ""),
    ca: dependencies.trustedCertificate,
  });
  app.addHook("onClose", () => documents.close());
  const streams = createNotificationStreams({ db, log });
  app.addHook("preClose", () => streams.close());
  const origins = createTrustedOrigins(db);
  const banners = createBannerReader({ db, images });
  const words = createPublicLinkWords(db.pool);
  const views = createViewLog(db);
  securityTxtRoutes(app, config);
  healthRoutes(app, { db, store, draining, versions });
  referenceRoutes(app, operations, config);
  await registerScope(
    app,
    async (scope) => {
      guardVersionedApi(scope, { db, config, limiter, origins });
      const api: Api = {
        app: scope,
        prefix: apiPrefix,
        operations,
        resolveOldId,
        checkReady: dependencies.checkReady ?? false,
        signer,
      };
      accountRoutes(api);
      directoryRoutes(api, { db });
      recordingRoutes(api, { db, signer, views, config });
      uploadRoutes(api, { db, jobs, store, signer, config });
      hookRoutes(api, { db, sender, encryptor, hostLimit, config });
    },
    apiPrefix,
  );
  await registerScope(
    app,
    async (scope) => {
      guardManagementApi(scope, { db, config, limiter, origins });
      const api: Api = {
        app: scope,
        prefix: managementPrefix,
        operations,
        resolveOldId,
        checkReady: dependencies.checkReady ?? false,
        signer,
      };
      highlightRoutes(api, {
        db,
        jobs,
        signer,
        config,
        requireRoom: (tx, workspaceId, bytes) => requireRoom(tx, config, workspaceId, bytes),
      });
      commentRoutes(api, { db, config });
      storyRoutes(api, { db, jobs, signer, banners, config });
      publicLinkRoutes(api, { db, jobs, signer, config });
      publicLinkPageRoutes(api, { db, store, signer, words, config });
      hookManagementRoutes(api, { db, jobs, encryptor, config });
      deliveryRoutes(api, { db, jobs, store, sender, encryptor, hostLimit, config });
      documentRoutes(api, { db, views, config });
      calendarRoutes(api, { db, jobs, encryptor, config });
      feedRoutes(api, { db, signer, config });
      trashRoutes(api, { db, store, config });
      libraryRoutes(api, { db, store, signer, config });
      searchRoutes(api, { db, signer, config });
      recordingDataRoutes(api, {
        db,
        jobs,
        store,
        signer,
        views,
        config,
        hasSpeechModel: () => hasSpeechModel(config),
      });
      notificationRoutes(api, { db, jobs, config, streams });
      accessRequestRoutes(api, { db, jobs });
      participantRoutes(api, { db });
      meetingTypeRoutes(api, { db });
      invitedUserRoutes(api, { db });
      importRoutes(api, { db, jobs, store, signer, config });
      sampleRoutes(api, { db, jobs, store, config });
      uploadManagementRoutes(api, { db });
      importRunRoutes(api, { db, jobs, encryptor });
      connectionRoutes(api, { db, jobs, encryptor, config });
      transcriptRoutes(api, {
        db,
        jobs,
        views,
        config,
        onTranscript: (tx, recording) => requestSummary(tx, jobs, config, recording),
      });
      transcriptionRoutes(api, { db, jobs, config });
      voiceRoutes(api, { db });
      intelligenceRoutes(api, { db, jobs, config });
      feedbackRoutes(api, { db });
      askRoutes(api, { db, limiter, config });
      auditRoutes(api, { db, config });
      const me: PresentDependencies = { db, managesSystem: (user) => managesSystem(db, user) };
      sessionRoutes(api, { ...me, jobs, encryptor, config });
      connectRoutes(api, { db, config, open: openProvider });
      passkeyRoutes(api, { db, jobs, encryptor, config, presentMe: createPresentMe(me) });
      secondFactorRoutes(api, { db, jobs, encryptor, config });
      userRoutes(api, { db, jobs, encryptor, config });
      teamRoutes(api, { db });
      workspaceRoutes(api, { db, config });
      securityRoutes(api, { db, hasSingleSignOn: () => config.signInProviders.length > 0 });
      domainRoutes(api, { db, config });
      tokenRoutes(api, { db, config });
      scimTokenRoutes(api, { db, config });
      oauthManagementRoutes(api, { db, config });
      retentionRoutes(api, { db, config });
      erasureRoutes(api, { db, jobs, encryptor, config });
      systemRoutes(api, { db, jobs, store, config });
      settingsRoutes(api, {
        ...{ db, encryptor, config, signInTest },
        followSettings: dependencies.followSettings,
      });
      modelRoutes(api, { db, jobs, config });
    },
    managementPrefix,
  );
  mcpMetadataRoutes(app, { config });
  await registerScope(
    app,
    async (scope) => {
      guardMcp(scope, { db, config, limiter, origins });
      mcpRoutes(scope, { config });
    },
    mcpPath,
  );
  await scimRoutes(app, { db, config, limiter });
  // Pages that the server renders: sign-in, links in emails, consent to apps.
  pageRoutes(app);
  await registerScope(app, async (scope) => {
    limitForms(scope, { limiter, config });
    await signInPages(scope, { db, encryptor, config });
    await linkPages(scope, { db, encryptor, jobs, config });
  });
  await singleSignOnRoutes(app, { db, open: openProvider, limiter, config, finishTest: signInTest.finish });
  await registerScope(app, async (scope) => {
    limitForms(scope, { limiter, config });
    await oauthRoutes(scope, {
      db,
      encryptor,
      signer,
      config,
      limiter,
      documents,
      origins,
      otherWaysToSignIn: (next) =>
        config.signInProviders.length === 0 ? null : `/sign-in?next=${encodeURIComponent(next)}`,
    });
  });
  await registerScope(app, async (scope) => {
    limitForms(scope, { limiter, config });
    connectionWebhookRoutes(scope, { db, jobs, encryptor });
  });
  await registerScope(app, async (scope) => {
    limitForms(scope, { limiter, config });
    await unsubscribePages(scope, { db, encryptor });
  });
  // Files behind signed links, without a version or a token.
  uploadFileRoutes(app, { db, jobs, store, signer, config });
  resumableRoutes(app, { db, jobs, store, signer, config, log });
  recordingAssetRoutes(app, { db, store, signer });
  // Recordings and clips share this check, and with it its statements.
  const stillSees = createViewCheck(db.pool);
  recordingMediaRoutes(app, { db, store, signer, views, stillSees, config });
  highlightMediaRoutes(app, { db, store, signer });
  clipRoutes(app, { db, store, signer, views, stillSees });
  sharedFileRoutes(app, { db, store, signer, limiter, banners, words, config });
  bucketNotificationRoutes(app, { db, jobs, store, limiter, config });
  await webAppRoutes(app, { db, signer, config, folder: dependencies.webFolder });
  return app;
}

function nothingAt({ method, url }: FastifyRequest): ProblemError {
  return new ProblemError("not_found", `there is nothing at ${method} ${pathOf(url)}; check the URL`);
}

/** Names requests by method and route, which hold no content. */
function noteRequests(app: FastifyInstance, eventLoop: EventLoopWatch): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { operation } = request.routeOptions.config;
    reply.raw.once(
      "close",
      eventLoop.begin(operation?.id ?? `${request.method} ${request.routeOptions.url ?? "unknown path"}`),
    );
    done();
  });
}

/** Logs one line per response: the operation and its outcome, never credentials or content. */
function logResponses(app: FastifyInstance): void {
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
      "responded",
    );
  });
}
