import { openInstallationStore } from "../../server/operations/move/stores.ts";
import { verifyStore } from "../../server/operations/storage-maintenance/owner-marker.ts";
import type { Config } from "../../server/platform/config/config.ts";
import type { ConnectionSettings, Database } from "../../server/platform/db/database.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { readToolConfig, toolLog, withOpenDatabase } from "./with-database.ts";

/**
 * Runs work on the database and its file store.
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
      return await work(db, store, config, settings);
    } finally {
      await store.close();
    }
  });
}
