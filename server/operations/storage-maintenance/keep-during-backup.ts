import type pg from "pg";
import { isBackupRunning } from "../../platform/db/backup-lock.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";

/**
 * A store that removes nothing while a backup runs: the backup's snapshot may refer to files that the database does not
 * need any more. The orphan sweep removes them after the backup.
 */
export function keepDuringBackup(store: ObjectStore, pool: pg.Pool): ObjectStore {
  return {
    ...store,
    async delete(key) {
      if (!(await isBackupRunning(pool))) await store.delete(key);
    },
    async put(key, body, options) {
      // An empty object takes the place of a file that is removed (uploads/lifecycle/upload-file.ts).
      const isRemoval = Buffer.isBuffer(body) && body.length === 0 && options?.ifAbsent !== true;
      if (isRemoval && (await isBackupRunning(pool))) {
        const info = await store.head(key);
        if (info !== null) return info;
      }
      return store.put(key, body, options);
    },
  };
}
