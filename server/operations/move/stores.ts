import type { FastifyBaseLogger } from "fastify";
import type pg from "pg";
import { type Config, ConfigError } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { openStore } from "../../platform/storage/open.ts";
import type { ObjectStore, StoreKind } from "../../platform/storage/store.ts";
import { makeSwitchable } from "../../platform/storage/switchable.ts";
import { combineStores } from "../../platform/storage/two-stores.ts";
import { keepDuringBackup } from "../storage-maintenance/keep-during-backup.ts";
import { readStoreId, WrongStoreError } from "../storage-maintenance/owner-marker.ts";

/** A migration of files that is not finished. */
export interface StoreMigration {
  readonly source: StoreKind;
  readonly target: StoreKind;
  readonly source_store: string;
  readonly target_store: string;
  /** `removing`: the source may have lost its marker. */
  readonly state: "preparing" | "copying" | "copied" | "removing";
  readonly copied_through: string | null;
  readonly files: number;
  readonly bytes: number;
  readonly switched_at: Date | null;
}

/** Which stores have the files, as the database says. */
export interface StoresInUse {
  readonly step: number;
  /** The store that files are written to. */
  readonly first: StoreKind;
  readonly migration: StoreMigration | null;
}

/** Reads which stores have the files; the settings say it until files are migrated. */
export async function readStores(
  db: Pick<pg.Pool, "query">,
  { storage }: Pick<Config, "storage">,
): Promise<StoresInUse> {
  const { rows: tables } = await db.query<{ exists: boolean }>(
    "select to_regclass('store_migration') is not null as exists",
  );
  // An empty database, or one that is about to be upgraded.
  if (!tables[0]?.exists) return { step: 0, first: storage, migration: null };
  const { rows } = await db.query<{
    step: number;
    kind: StoreKind | null;
    migration: (Omit<StoreMigration, "switched_at"> & { switched_at: string | null }) | null;
  }>(
    `select store_step as step, store_kind as kind, to_jsonb(m) as migration
     from installation left join store_migration m on true`,
  );
  const [row] = rows;
  if (row === undefined) return { step: 0, first: storage, migration: null };
  const { migration } = row;
  return {
    step: row.step,
    first: migration?.state === "preparing" ? migration.source : (row.kind ?? storage),
    migration:
      migration === null
        ? null
        : {
            ...migration,
            switched_at: migration.switched_at === null ? null : new Date(migration.switched_at),
          },
  };
}

/** The stores that have files, the one that files are written to first: both while a migration is not finished. */
export function kindsOf({ first, migration }: StoresInUse): readonly StoreKind[] {
  if (migration === null) return [first];
  return [first, first === migration.source ? migration.target : migration.source];
}

/** The store of an installation, which may be two while its files are migrated. */
export interface InstallationStore {
  readonly store: ObjectStore;
  /**
   * Uses the stores that the database names now. Resolves when no write to a store that files are no longer written to is
   * in flight.
   * @returns their step.
   * @throws ConfigError, WrongStoreError where the settings don't lead to them; then nothing changes.
   */
  follow(): Promise<number>;
}

interface Dependencies {
  readonly db: Pick<Database, "pool" | "kysely">;
  readonly config: Config;
  readonly log: Pick<FastifyBaseLogger, "warn" | "info">;
}

/**
 * Opens the store or stores that have the files of an installation. Nothing is removed from them while a backup runs.
 * @throws ConfigError, WrongStoreError where the settings don't lead to them.
 */
export async function openInstallationStore({ db, config, log }: Dependencies): Promise<InstallationStore> {
  const opened = new Map<StoreKind, ObjectStore>();

  async function open(kind: StoreKind, use: string): Promise<ObjectStore> {
    const known = opened.get(kind);
    if (known !== undefined) return known;
    const store = keepDuringBackup(await openKind(config, kind, use), db.pool);
    opened.set(kind, store);
    return store;
  }

  async function openStores(inUse: StoresInUse): Promise<ObjectStore> {
    const { first, migration } = inUse;
    if (migration === null) return open(first, "the database says that files are in S3");
    const { source, target, source_store, target_store, state } = migration;
    const use = `the migration of files from ${source} to ${target} is not finished and needs both stores (\`parley storage migrate --to ${target} --remove-source\` finishes it)`;
    const both = await Promise.all(kindsOf(inUse).map((kind) => open(kind, use)));
    const [store, second] = both as [ObjectStore, ObjectStore];
    const isMarked = await Promise.all([
      isStore(db as Database, await open(target, use), target_store),
      state === "removing" || isStore(db as Database, await open(source, use), source_store),
    ]);
    if (isMarked.includes(false))
      throw new WrongStoreError(
        `files are being migrated from ${source} to ${target}, but the store at the configured location is not the one of this migration. Correct PARLEY_DATA_DIR or the PARLEY_S3_… settings, or mount the missing volume`,
      );
    return combineStores(store, second);
  }

  const initial = await readStores(db.pool, config);
  let { step, first } = initial;
  if (initial.first !== config.storage)
    log.warn(
      { storage: initial.first },
      `PARLEY_STORAGE=${config.storage} is out of date and has no effect, because files were migrated; set PARLEY_STORAGE=${initial.first}`,
    );
  const { store, use, drain } = makeSwitchable(await openStores(initial));
  const closeAll = async (): Promise<void> => {
    for (const each of opened.values()) await each.close();
  };
  async function followOnce(): Promise<number> {
    const now = await readStores(db.pool, config);
    if (now.step === step) return step;
    use(await openStores(now));
    if (now.first !== first) await drain();
    ({ step, first } = now);
    log.info({ first, migration: now.migration?.state ?? null }, "the file stores have changed");
    return step;
  }
  // One after another: a second call must not return before the writes that the first one waits for have ended.
  let following: Promise<unknown> = Promise.resolve();
  return {
    store: new Proxy(store, {
      get: (target, name: keyof ObjectStore) => (name === "close" ? closeAll : target[name]),
    }),
    follow() {
      const run = following.then(followOnce);
      following = run.catch(() => undefined);
      return run;
    },
  };
}

/** Opens one of the two possible stores. @param use why S3 is needed. @throws ConfigError if no bucket is named. */
export async function openKind(config: Config, kind: StoreKind, use: string): Promise<ObjectStore> {
  if (kind === "s3" && config.s3 === null)
    throw new ConfigError(
      `${use}, but PARLEY_S3_BUCKET is not set; set it, with PARLEY_S3_ENDPOINT and credentials as needed`,
    );
  return openStore(config, kind);
}

async function isStore(db: Database, store: ObjectStore, id: string): Promise<boolean> {
  return (await readStoreId(db, store)) === id;
}
