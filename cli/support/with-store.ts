import type { Config } from "../../server/platform/config/config.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { openStore } from "../../server/platform/storage/open.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { verifyStore } from "../../server/storage-maintenance/owner-marker.ts";
import { withDatabase } from "./with-database.ts";

/**
 * Runs work on the database and its file store.
 * @throws WrongStoreError before running work, if the store belongs to another database.
 */
export function withStore<T>(
  work: (db: Database, store: ObjectStore, config: Config) => Promise<T>,
): Promise<T> {
  return withDatabase(async (db, config) => {
    const store = await openStore(config);
    try {
      await verifyStore(db, store);
      return await work(db, store, config);
    } finally {
      await store.close();
    }
  });
}
