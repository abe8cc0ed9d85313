import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { pino } from "pino";
import { buildApp } from "../../server/app.ts";
import { openHookSender } from "../../server/connections/webhooks/transport/open-sender.ts";
import type { HookSender } from "../../server/connections/webhooks/transport/send.ts";
import { jobKinds } from "../../server/jobs.ts";
import { createLiveSettings } from "../../server/operations/system/settings/live.ts";
import type { PasswordCost } from "../../server/people/accounts/sign-in/passwords.ts";
import { type Config, readConfig } from "../../server/platform/config/config.ts";
import { createEncryptor, type Encryptor } from "../../server/platform/crypto/encryptor.ts";
import { createSigner, type LinkSigner } from "../../server/platform/crypto/link-signer.ts";
import { openSecrets } from "../../server/platform/crypto/secret.ts";
import { type Database, openDatabase } from "../../server/platform/db/database.ts";
import type { TimeLimits } from "../../server/platform/http/limits/time-limits.ts";
import { type JobQueue, openJobQueue } from "../../server/platform/jobs/queue.ts";
import { openStore } from "../../server/platform/storage/open.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { startWorker } from "../../server/worker.ts";
import { createTestDatabase } from "./database.ts";
import { cheapCost } from "./passwords.ts";

export { type Answer, type CallOptions, call, currentVersion, everyVersion, olderVersion } from "./call.ts";

/** A server in this process with real parts. Responses are checked against the contract, also those sent as raw JSON. */
export interface TestApp {
  readonly url: string;
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly encryptor: Encryptor;
  readonly sender: HookSender;
  readonly config: Config;
}

export interface TestAppOptions {
  readonly env?: Record<string, string>;
  /** The clock of hooks. */
  readonly clock?: { now(): Date };
  /** Folder of the built web app. */
  readonly webFolder?: string;
  /** Port to listen on; links in responses then point to this server. */
  readonly port?: number;
  /** Whether to run a worker; without one, jobs stay in the queue. */
  readonly worker?: boolean;
  /** Names of the recurring jobs to run; default: all. With a short interval, all of them take most of the time. */
  readonly recurring?: readonly string[];
  /** Shorter request timeouts. */
  readonly limits?: Partial<TimeLimits>;
  /** The certificate to trust for descriptions of apps, as PEM. */
  readonly trustedCertificate?: string;
  /** IP addresses besides the public ones that may serve descriptions of apps. */
  readonly documentAddresses?: string;
  /** Of hashing a password; default: next to nothing. */
  readonly passwordCost?: PasswordCost;
}

/** Starts a server for the calling test file and stops it after the file's tests. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), "parley-app-"));
  const given = readConfig(
    {
      PARLEY_DATA_DIR: folder,
      PARLEY_BASE_URL: options.port === undefined ? "http://parley.test" : `http://localhost:${options.port}`,
      PARLEY_RATE_LIMIT_PER_MINUTE: "0",
      PARLEY_LOG_LEVEL: "silent",
      // Nothing listens there: a test run downloads nothing.
      PARLEY_MODEL_MIRROR: "http://127.0.0.1:9/",
      ...options.env,
    },
    folder,
  );
  const log = pino({ level: "silent" });
  const fail = (error: Error): never => {
    throw error;
  };
  const db = openDatabase(database.settings, { onError: fail });
  const jobs = openJobQueue(jobKinds);
  const store = await openStore(given);
  const secrets = await openSecrets(given.secret, store, db);
  const [signer, encryptor] = [createSigner(secrets), createEncryptor(secrets)];
  const settings = createLiveSettings(given, { db, encryptor, log });
  const { config } = settings;
  settings.onChange(jobs.wake);
  const sender = openHookSender(config);
  if (options.worker !== false) await postponeRecurringJobs(db, config, options.recurring);
  const worker =
    options.worker === false
      ? null
      : startWorker({
          db,
          jobs,
          store,
          signer,
          encryptor,
          sender,
          config,
          log,
          ...(options.clock === undefined ? {} : { clock: options.clock }),
        });
  const app = await buildApp({
    db,
    jobs,
    store,
    signer,
    encryptor,
    sender,
    config,
    log,
    followSettings: settings.follow,
    webFolder: options.webFolder ?? null,
    checkReady: true,
    passwordCost: options.passwordCost ?? cheapCost,
    ...(options.trustedCertificate === undefined ? {} : { trustedCertificate: options.trustedCertificate }),
    ...(options.documentAddresses === undefined ? {} : { documentAddresses: options.documentAddresses }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  await app.listen({ host: "127.0.0.1", port: options.port ?? 0 });
  const { port } = app.server.address() as AddressInfo;
  after(async () => {
    await app.close();
    await worker?.stop(10_000);
    await sender.close();
    await db.close();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = options.port === undefined ? `http://127.0.0.1:${port}` : config.baseUrl;
  return { url, db, jobs, store, signer, encryptor, sender, config };
}

/**
 * Has the recurring jobs wait for their next time, as in a server that has run before: running all of them at the start
 * takes longer than most tests.
 * @param names those that run at all; default: all.
 */
async function postponeRecurringJobs(db: Database, config: Config, names?: readonly string[]): Promise<void> {
  const all = jobKinds.filter((kind) => kind.isRecurring && kind.isEnabled(config)).map(({ name }) => name);
  await db.pool.query(
    `insert into jobs (name, key, due_at, is_stopped)
     select name, '', 'infinity', name <> all($2::text[]) from unnest($1::text[]) name`,
    [all, names ?? all],
  );
}
