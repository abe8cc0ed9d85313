import { hasDatabase, openConfiguredDatabase } from "../../server/open.ts";
import { openInstallationStore } from "../../server/operations/move/stores.ts";
import { verifyStore } from "../../server/operations/storage-maintenance/owner-marker.ts";
import { hasAppSettings, readAppSettings } from "../../server/operations/system/settings/live.ts";
import type { Config } from "../../server/platform/config/config.ts";
import { createEncryptor } from "../../server/platform/crypto/encryptor.ts";
import { openSecrets, WrongSecretError } from "../../server/platform/crypto/secret.ts";
import type { ConnectionSettings, Database } from "../../server/platform/db/database.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { readToolConfig, toolLog, withOpenDatabase } from "./with-database.ts";

/**
 * Runs work on the database and its file store, with the settings of the app.
 * @throws WrongStoreError before running work, if the store belongs to another database.
 */
export function withStore<T>(
  work: (db: Database, store: ObjectStore, config: Config, settings: ConnectionSettings) => Promise<T>,
  config: Config = readToolConfig(),
): Promise<T> {
  return withOpenDatabase(config, async ({ db, settings }) => {
    const { store } = await openInstallationStore({ db, config, log: toolLog() });
    try {
      await verifyStore(db, store);
      return await work(db, store, await addAppSettings(config, db, store), settings);
    } finally {
      await store.close();
    }
  });
}

/** The settings with those of the app, unless these were encrypted with another secret. */
export async function addAppSettings(config: Config, db: Database, store: ObjectStore): Promise<Config> {
  if (!(await hasAppSettings(db))) return config;
  try {
    const encryptor = createEncryptor(await openSecrets(config.secret, store, db, { isReader: true }));
    return await readAppSettings(config, { db, encryptor, log: toolLog("warn") });
  } catch (error) {
    if (!(error instanceof WrongSecretError)) throw error;
    console.error(`parley: the settings of the app are not used: ${error.message}`);
    return config;
  }
}

/**
 * The same for a command that also works without its database; it says so if the settings of the app can't be read.
 * Creates and changes nothing.
 */
export async function readWholeConfig(config: Config): Promise<Config> {
  if (!hasDatabase(config)) return config;
  try {
    const opened = await openConfiguredDatabase(config, "tool", toolLog());
    try {
      if (!(await hasAppSettings(opened.db))) return config;
      const { store } = await openInstallationStore({ db: opened.db, config, log: toolLog() });
      try {
        return await addAppSettings(config, opened.db, store);
      } finally {
        await store.close();
      }
    } finally {
      await opened.close();
    }
  } catch (error) {
    console.error(
      `parley: the settings of the app can't be read, so those of the environment are used: ${(error as Error).message}`,
    );
    return config;
  }
}
