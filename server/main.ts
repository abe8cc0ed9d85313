import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { buildApp } from "./app.ts";
import { releaseAllHooks } from "./connections/webhooks/deliveries/leases.ts";
import { openHookSender } from "./connections/webhooks/transport/open-sender.ts";
import { enqueuedNames, jobKinds } from "./jobs.ts";
import { openConfiguredDatabase, upgradeDatabase } from "./open.ts";
import { startMetrics } from "./operations/metrics/index.ts";
import { refuseMoved } from "./operations/move/moved.ts";
import { createPause } from "./operations/move/pause.ts";
import { openInstallationStore } from "./operations/move/stores.ts";
import { verifyStore } from "./operations/storage-maintenance/owner-marker.ts";
import { startHeartbeat } from "./operations/system/processes.ts";
import { createSecretFollower } from "./operations/system/secrets/follow.ts";
import { createLiveSettings } from "./operations/system/settings/live.ts";
import { findWebApp, missingWebApp } from "./operations/web/build.ts";
import { createFirstAccount, type FirstAccount } from "./people/accounts/service.ts";
import { type Config, ConfigError } from "./platform/config/config.ts";
import { allSettings } from "./platform/config/settings.ts";
import { reportConfinement } from "./platform/confinement/index.ts";
import { createEncryptor } from "./platform/crypto/encryptor.ts";
import { createSigner } from "./platform/crypto/link-signer.ts";
import { openSecrets } from "./platform/crypto/secret.ts";
import { readSchema } from "./platform/db/migrate.ts";
import { watchOldestVersion } from "./platform/db/oldest-version.ts";
import { startPresence } from "./platform/db/presence.ts";
import { watchEventLoop } from "./platform/event-loop.ts";
import { bindListener } from "./platform/http/listening/listener.ts";
import { listenForStatus, type StatusListener } from "./platform/http/listening/status-listener.ts";
import { takeFromTheDead } from "./platform/jobs/queries.ts";
import { logStoppedJobs, openJobQueue } from "./platform/jobs/queue.ts";
import { createLog } from "./platform/log.ts";
import { setOutboundProxy } from "./platform/outbound/proxy.ts";
import type { ObjectStore } from "./platform/storage/store.ts";
import { logFailures } from "./platform/telemetry/log-failures.ts";
import { preflight } from "./preflight.ts";
import { startTracing } from "./tracing.ts";
import { startWorker } from "./worker.ts";
import { reportWorkerHealth } from "./worker-health.ts";

/** How long running jobs may continue after the signal to stop. */
const graceMs = 20_000;

/** @throws ConfigError in one line when the store is unusable. */
async function probeStore(store: ObjectStore): Promise<void> {
  try {
    await store.probe();
  } catch (error) {
    throw new ConfigError(`the file store can't be used: ${(error as Error).message}`);
  }
}

/**
 * Binds the ports for health and metrics; one listener serves both where their addresses are the same.
 * @throws ConfigError in one line when a port can't be used.
 */
async function openStatusListeners(
  { role, healthAddress, metricsAddress }: Config,
  closers: (() => Promise<unknown>)[],
  log: Logger,
): Promise<{ readonly health: StatusListener | null; readonly metrics: StatusListener | null }> {
  const open = async (setting: string, address: Config["metricsAddress"]): Promise<StatusListener | null> => {
    if (address === null) return null;
    const listener = await listenForStatus(address).catch((error: Error) => {
      throw new ConfigError(`invalid setting: ${setting} can't be used: ${error.message}`);
    });
    log.info(address, "serving health or metrics");
    closers.push(() => listener.close());
    return listener;
  };
  const metrics = await open("PARLEY_METRICS_ADDRESS", metricsAddress);
  if (role !== "worker" || healthAddress === null) return { health: null, metrics };
  const isSame = metricsAddress?.host === healthAddress.host && metricsAddress.port === healthAddress.port;
  return { health: isSame ? metrics : await open("PARLEY_HEALTH_ADDRESS", healthAddress), metrics };
}

/** One line says which settings are made and where, without their values. */
function logSettings({ sources }: Config, log: Logger): void {
  const made = (texts: Readonly<Record<string, string | undefined>> | null) =>
    allSettings.map(({ name }) => name).filter((name) => texts?.[name]);
  log.info({ environment: made(sources.env), file: made(sources.file) }, "settings");
}

/** A running server. */
export interface Server {
  readonly log: Logger;
  /** Set on the very first start. */
  readonly firstAccount: FirstAccount | null;
  /**
   * Drains, stops accepting requests, finishes those in flight, returns running jobs to the queue, stops PostgreSQL.
   */
  stop(): Promise<void>;
}

/**
 * Starts the configured roles. Resolves when requests are served and jobs are processed.
 * @param givenWebFolder holds the documents of the web app instead of the folder of the build.
 * @param onLost called when the database is lost permanently and the server should end.
 * @param keepFirstAccount stores the sign-in of the first account, if this start creates it.
 */
export async function startServer(
  given: Config,
  onLost: (error: Error) => void,
  keepFirstAccount?: (account: FirstAccount) => Promise<void>,
  givenWebFolder: string | null = null,
): Promise<Server> {
  await preflight(given);
  const log = createLog(given.logLevel);
  const endLogging = logFailures(log);
  const closers: (() => Promise<unknown>)[] = [async () => endLogging()];
  const draining = { isActive: false };
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) {
      // One part that fails to close must not keep the others open.
      await close().catch((error: Error) => log.error({ err: error }, "a part did not close cleanly"));
    }
  };
  try {
    // Until the database can be read.
    let config = given;
    const tracing = await startTracing(process.env, config, log);
    if (tracing !== null) closers.push(() => tracing.stop());
    // First of all: a port in use is reported before anything is created or changed.
    const listener = config.role === "worker" ? null : await bindListener(config.host, config.port);
    if (listener !== null) closers.push(() => listener.close());
    const statusListeners = await openStatusListeners(config, closers, log);
    const metrics =
      statusListeners.metrics === null ? null : await startMetrics(statusListeners.metrics, config, log);
    if (metrics !== null) closers.push(() => metrics.stop());
    const database = await openConfiguredDatabase(config, "server", log, onLost);
    closers.push(() => database.close());
    const { db } = database;
    await refuseMoved(db.pool);
    metrics?.watchDatabase(database.settings, db, enqueuedNames);
    tracing?.watchPool(db.pool);
    const { store, follow } = await openInstallationStore({ db, config, log });
    closers.push(() => store.close());
    await probeStore(store);
    const { isEmpty } = await readSchema(database.settings);
    // An existing database knows its store: check that before anything is changed.
    if (!isEmpty) await verifyStore(db, store);
    const migrated = await upgradeDatabase(database, config, log);
    if (isEmpty) await verifyStore(db, store);
    const pause = createPause(listener, log);
    let followSettings = async (): Promise<void> => {};
    const presence = await startPresence(
      { settings: database.settings, log },
      { ...pause.handlers, followStores: follow, followSettings: () => followSettings() },
    );
    closers.push(() => presence.stop());
    pause.started();
    const jobs = openJobQueue(jobKinds);
    const secrets = await openSecrets(config.secret, store, db);
    const [signer, encryptor] = [createSigner(secrets), createEncryptor(secrets)];
    const settings = createLiveSettings(given, { db, encryptor, log });
    ({ config } = settings);
    await settings.follow();
    let reportProcess = async (): Promise<void> => {};
    const followSecrets = createSecretFollower(secrets, () => reportProcess(), log);
    followSettings = async () => {
      await followSecrets();
      await settings.follow();
    };
    logSettings(config, log);
    settings.onChange(() => {
      log.level = config.logLevel;
      jobs.wake();
    });
    log.level = config.logLevel;
    setOutboundProxy(config.proxy);
    const sender = openHookSender(config);
    closers.push(() => sender.close());
    const { role } = config;
    const watchedFolders = (): string[] =>
      role === "api" ? [] : config.watchDirs.map(({ location }) => location);
    // Stopped after the work: a process that finishes its requests and jobs is still listed.
    const heartbeat = await startHeartbeat(db, {
      role,
      isAlone: database.isEmbedded,
      watchedFolders,
      secretIds: () => secrets.secrets.map(({ id }) => id.toString("hex")),
      log,
    });
    reportProcess = heartbeat.report;
    closers.push(() => heartbeat.stop());
    const runsWorker = role !== "api";
    const eventLoop = watchEventLoop(log);
    closers.push(async () => eventLoop.stop());
    let stopWorker = async (): Promise<void> => {};
    const versions = await watchOldestVersion(db.pool, log, () => void stopWorker());
    closers.push(async () => versions.stop());
    if (runsWorker) {
      if (database.isEmbedded) {
        const [stopped] = await Promise.all([takeFromTheDead(db.kysely, "all"), releaseAllHooks(db.pool)]);
        logStoppedJobs(log, stopped);
      }
      const worker = pause.work(() =>
        startWorker({ db, jobs, store, signer, encryptor, sender, config, log, eventLoop }),
      );
      // Also called when this version becomes too old, and then not again.
      let stopped: Promise<void> | null = null;
      stopWorker = () => {
        stopped ??= worker.stop(graceMs);
        return stopped;
      };
      closers.push(stopWorker);
      void reportConfinement(log);
      if (statusListeners.health !== null)
        reportWorkerHealth(statusListeners.health, { db, worker, versions, log });
    }
    let firstAccount: FirstAccount | null = null;
    if (listener !== null) {
      const webFolder = givenWebFolder ?? findWebApp();
      if (webFolder === null) log.warn(missingWebApp());
      const app = await buildApp({
        db,
        jobs,
        store,
        signer,
        encryptor,
        sender,
        config,
        log,
        eventLoop,
        followSettings: settings.follow,
        listener,
        draining,
        versions,
        webFolder,
      });
      closers.push(() => app.close());
      await app.ready();
      // Last, when nothing can fail any more: its password is shown once, by the process that creates it.
      const password = randomBytes(12).toString("base64url");
      firstAccount = await createFirstAccount(db, password, keepFirstAccount);
      listener.open();
      log.info({ host: config.host, port: config.port }, "listening");
    }
    log.info({ role, migrated }, "ready");
    return {
      log,
      firstAccount,
      async stop() {
        if (given.role !== "worker" && config.drainMs > 0) {
          draining.isActive = true;
          log.info({ ms: config.drainMs }, "draining: requests are still served, /readyz returns 503");
          await sleep(config.drainMs);
        }
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
