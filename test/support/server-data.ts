import { readConfig } from "../../server/platform/config/config.ts";
import { type Database, openDatabase } from "../../server/platform/db/database.ts";
import { recordingObjectKey } from "../../server/platform/storage/layout.ts";
import { openStore } from "../../server/platform/storage/open.ts";
import type { ServerProcess } from "./server-process.ts";

/** The database and the files of a server in another process, to insert what takes long to create over its API. */
export interface ServerData {
  readonly db: Database;
  /** Stores a video as the file of a recording. */
  putMedia(recordingId: string, bytes: Buffer): Promise<void>;
}

/** Opens the data of a server. The caller closes the database. Sets the credentials of S3 for the whole process. */
export async function openServerData({ env }: ServerProcess): Promise<ServerData> {
  const db = openDatabase(
    { connectionString: env.PARLEY_DATABASE_URL },
    {
      onError: (error) => {
        throw error;
      },
    },
  );
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = env;
  if (AWS_ACCESS_KEY_ID !== undefined)
    Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY });
  const store = await openStore(readConfig(env, env.PARLEY_DATA_DIR ?? ""));
  return {
    db,
    async putMedia(recordingId, bytes) {
      await store.put(recordingObjectKey(recordingId, "media.mp4"), bytes, {});
      await db.pool.query(
        "insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp4', false)",
        [recordingId],
      );
    },
  };
}
