import { constants, existsSync } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { type Config, unknownSettings, withNearest } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { checkEmbeddedPostgres } from "../../../platform/db/embedded/index.ts";
import { openStore } from "../../../platform/storage/open.ts";
import type { StoreKind } from "../../../platform/storage/store.ts";
import { hasLanguageModel, hasSpeechModel } from "../../../processing/models/index.ts";
import { kindsOf, readStores } from "../../move/stores.ts";
import { findWebApp, missingWebApp } from "../../web/build.ts";
import {
  languageModelOff,
  speechOff,
  testDatabase,
  testLanguageModelServer,
  testMail,
  testSpeechServer,
  testStorage,
} from "../health/test-component.ts";
import { explainWriteFailure } from "../write-failure.ts";
import { checkBucket } from "./bucket.ts";
import { type Check, checkOf, passed, skipped, tryCheck, warning, wrong } from "./check.ts";
import { checkSkew } from "./clock.ts";
import { checkFileSystem, checkFolders } from "./folders.ts";
import { checkNetwork } from "./network.ts";
import { checkReplica } from "./replica.ts";
import { checkSecrets } from "./secrets.ts";
import { checkWatchedFolders } from "./watched-folders.ts";

export type { Check } from "./check.ts";

/** Runs work on the configured database. @throws what opening it throws. */
type WithDatabase = (work: (db: Database) => Promise<Check[]>) => Promise<Check[]>;

/**
 * Checks an installation, also while its server is down.
 * @param report called with each result as soon as it is known.
 */
export async function runDoctor(
  config: Config,
  withDatabase: WithDatabase,
  report: (check: Check) => void,
): Promise<void> {
  const reportAll = (checks: readonly Check[]): void => checks.forEach(report);
  const folders = await checkFolders(config);
  reportAll(folders);
  // The database can be read although the volume is full.
  const hasFolder = folders[0]?.state === "ok" || (await isReadable(config.dataDir));
  if (config.role !== "api") reportAll(await checkWatchedFolders(config));
  reportAll(await checkNetwork(config));
  if (config.role !== "worker") report(checkWebApp());
  // The database says which store has the files; the settings may name both.
  let files: readonly StoreKind[] = [config.storage];
  reportAll(
    await checkDatabase(config, hasFolder, (work) =>
      withDatabase(async (db) => {
        files = kindsOf(await readStores(db.pool, config));
        return work(db);
      }),
    ),
  );
  if (hasFolder && existsSync(config.dataDir))
    report(await checkFileSystem(config, files.includes("local") ? "local" : "s3"));
  for (const kind of files) reportAll(await checkStorage(config, kind, files.length > 1, hasFolder));
  report(checkOf("mail", await testMail(config, null)));
  report(await checkSpeech(config));
  report(await checkLanguageModel(config));
}

async function checkSpeech(config: Config): Promise<Check> {
  const name = "speech model";
  const { transcription } = config;
  if (transcription?.engine === "server") return checkOf(name, await testSpeechServer(transcription));
  if (transcription === null || !(await hasSpeechModel(config))) return checkOf(name, speechOff());
  return skipped(name, "The built-in engine transcribes. `parley status --test` tries it.");
}

async function checkLanguageModel(config: Config): Promise<Check> {
  const name = "language model";
  const { languageModel } = config;
  if (languageModel?.engine === "server") return checkOf(name, await testLanguageModelServer(languageModel));
  if (!(await hasLanguageModel(config))) return checkOf(name, languageModelOff(config));
  return skipped(name, "The built-in language model is used. `parley status --test` tries it.");
}

async function isReadable(folder: string): Promise<boolean> {
  return access(folder, constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

function checkWebApp(): Check {
  const name = "web app";
  if (findWebApp() !== null) return passed(name, "The web app is built.");
  return warning(name, missingWebApp(), "`npm start` builds it as well. The API works without it.");
}

async function checkDatabase(
  config: Config,
  hasFolder: boolean,
  withDatabase: WithDatabase,
): Promise<Check[]> {
  const name = "database";
  const { databaseUrl, dataDir } = config;
  if (databaseUrl === null) {
    if (!hasFolder) return [skipped(name, "The embedded database needs the data folder.")];
    const system = await tryCheck(name, "Install what is missing, or set PARLEY_DATABASE_URL.", async () => {
      await checkEmbeddedPostgres(dataDir);
      return skipped(name, "There is no database yet; the first start creates it.");
    });
    const isCreated = existsSync(join(dataDir, "postgres")) || existsSync(join(dataDir, "postgres.location"));
    if (system.state === "error" || !isCreated) return [system];
  }
  const remedy =
    databaseUrl === null
      ? "Read the log in the folder postgres of the data folder. If it is damaged, restore a backup."
      : "Check PARLEY_DATABASE_URL, that PostgreSQL is running, and that it accepts connections from this machine.";
  try {
    return await withDatabase(async (db) => {
      const { rows } = await db.pool.query<{ now: Date; is_super: boolean }>(
        "select clock_timestamp() as now, (select rolsuper from pg_roles where rolname = current_user) as is_super",
      );
      const checks = [checkOf(name, await testDatabase(db))];
      if (db.replica !== null) checks.push(await checkReplica(db.replica));
      if (databaseUrl !== null) {
        checks.push(checkSkew("database clock", "the database", rows[0]?.now ?? null));
        if (rows[0]?.is_super)
          checks.push(
            warning(
              "database role",
              "PARLEY_DATABASE_URL connects as a superuser, so an error in a statement can do more harm.",
              "Use an ordinary role that owns the database.",
            ),
          );
      }
      return [...checks, ...(await checkSecrets(db, config))];
    });
  } catch (error) {
    const { isRoom, ...failure } = await explainWriteFailure(error, dataDir);
    return [await tryCheck(name, isRoom ? failure.remedy : remedy, () => Promise.reject(error))];
  }
}

/** @param isMigrating whether the migration between the two stores is not finished, so that each has files. */
async function checkStorage(
  config: Config,
  files: StoreKind,
  isMigrating: boolean,
  hasFolder: boolean,
): Promise<Check[]> {
  const name = isMigrating ? `file store ${files}` : "file store";
  // The first start creates the folder for the user that runs Parley, which may be another one than that of this command.
  if (files === "local" && (!hasFolder || !existsSync(join(config.dataDir, "objects"))))
    return [skipped(name, "Files are stored in the data folder, which has none yet.")];
  if (files === "s3" && config.s3 === null)
    return [
      wrong(
        name,
        isMigrating
          ? "The migration of files between S3 and the data folder is not finished, but no bucket is named."
          : "Files are stored in S3, but no bucket is named.",
        "Set PARLEY_S3_BUCKET.",
      ),
    ];
  const store = await openStore(config, files);
  try {
    const storage = checkOf(name, await testStorage(store, config));
    if (files === "local" || storage.state === "error") return [storage];
    return [storage, ...(await checkBucket(store, config))];
  } finally {
    await store.close();
  }
}

/** Invalid settings, one check for each; without them nothing else can be checked. */
export function checkSettings(message: string | null, env: NodeJS.ProcessEnv): Check[] {
  const name = "settings";
  const remedy =
    "Correct it in the environment of the server; docs/operations/settings.md lists all settings.";
  const violations = message?.replace(/^invalid setting: /, "").split("; ") ?? [];
  const checks = [
    ...violations.map((text) => wrong(name, text, remedy)),
    ...unknownSettings(env).map((setting) =>
      warning(
        name,
        `${withNearest(setting)} is not a setting of Parley and has no effect.`,
        "Correct or remove it.",
      ),
    ),
  ];
  return checks.length > 0 ? checks : [passed(name, "All settings are valid.")];
}
