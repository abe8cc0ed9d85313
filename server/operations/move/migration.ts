import type pg from "pg";
import type { Config } from "../../platform/config/config.ts";
import type { ConnectionSettings, Database } from "../../platform/db/database.ts";
import { announceMove } from "../../platform/db/presence.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import type { StoreMigration } from "./stores.ts";

/** How far a migration of files is. */
export interface MigrationProgress {
  readonly phase: "waiting" | "files" | "removing";
  readonly total: number;
  readonly done: number;
  readonly bytes?: number;
}

/** The installation whose files are migrated. */
export interface Installation {
  readonly db: Database;
  readonly settings: ConnectionSettings;
  readonly config: Config;
}

/** What the steps of a migration share. */
export interface Migrating extends Installation {
  /** Holds the lock of the command. */
  readonly client: pg.Client;
  readonly source: ObjectStore;
  readonly target: ObjectStore;
  readonly migration: StoreMigration;
  readonly onProgress: (progress: MigrationProgress) => void;
}

/** Changes the stores in use and notifies all processes. @returns the new step. */
export async function changeStores(
  client: pg.Client,
  change: (client: pg.Client) => Promise<unknown>,
): Promise<number> {
  await client.query("begin");
  try {
    // The marker of a store must not be newer than the database, also after a crash.
    await client.query("set local synchronous_commit = on");
    await change(client);
    const { rows } = await client.query<{ step: number }>(
      "update installation set store_step = store_step + 1 returning store_step as step",
    );
    await client.query("commit");
    await announceMove(client);
    return rows[0]?.step ?? 0;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}
