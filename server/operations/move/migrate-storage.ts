import { type Laggard, takeMoverLock } from "../../platform/db/presence.ts";
import {
  importsPrefix,
  notesPrefix,
  recordingsPrefix,
  uploadsPrefix,
} from "../../platform/storage/layout.ts";
import type { ObjectStore, StoreKind } from "../../platform/storage/store.ts";
import { countStoredFiles } from "../../processing/integrity/check.ts";
import { connectForCopy } from "../backup/snapshot.ts";
import { markSecondStore, readStoreId } from "../storage-maintenance/owner-marker.ts";
import { copyFiles } from "./copy-files.ts";
import { MoveError } from "./errors.ts";
import { changeStores, type Installation, type Migrating, type MigrationProgress } from "./migration.ts";
import { removeSource } from "./remove-source.ts";
import { openKind, readStores, type StoreMigration, type StoresInUse } from "./stores.ts";
import { waitForProcesses } from "./wait-for-processes.ts";

export interface MigrationOptions {
  readonly to: StoreKind;
  /** Remove all files from the source in the end. */
  readonly removeSource: boolean;
  readonly onProgress: (progress: MigrationProgress) => void;
}

/** What a migration did. */
export interface MigrationResult {
  /** Null: the files were there already. */
  readonly from: StoreKind | null;
  readonly files: number;
  readonly bytes: number;
  /** Keys of files that were damaged in the source, and were copied as they are. */
  readonly damaged: readonly string[];
  /** Files removed from the source; null: it still has them. */
  readonly removed: number | null;
}

/** How long processes may take to open the target. Without it, the migration does not begin. */
const prepareMs = 20_000;

/**
 * Migrates all files to the other kind of store, while the server runs. First every process reads from both stores, then
 * every process writes to the target, then files are copied, each verified by its digest. Killed at any point, both stores
 * are used until it is run again.
 * @throws MoveError if it can't begin, continue or remove the source.
 */
export async function migrateStorage(
  installation: Installation,
  options: MigrationOptions,
): Promise<MigrationResult> {
  const client = await connectForCopy(installation.settings);
  const opened: ObjectStore[] = [];
  const open = async (kind: StoreKind): Promise<ObjectStore> => {
    const store = await openKind(installation.config, kind, `files are to be migrated to ${options.to}`);
    opened.push(store);
    return store;
  };
  try {
    if (!(await takeMoverLock(client, "storage")))
      throw new MoveError(
        "another command is migrating files or changing the secrets; wait until it has finished",
      );
    const { first, migration: unfinished } = await readStores(client, installation.config);
    if (unfinished === null && first === options.to)
      return { from: null, files: 0, bytes: 0, damaged: [], removed: null };
    const source = await open(options.to === "s3" ? "local" : "s3");
    const target = await open(options.to);
    const shared = { ...installation, client, source, target, onProgress: options.onProgress };
    if (unfinished === null) await begin(shared);
    else if (unfinished.target !== options.to) await turnBack(shared, unfinished);
    const read = async (): Promise<Migrating> => ({ ...shared, migration: await readMigration(shared) });
    if ((await read()).migration.state === "preparing") await writeToTarget(shared);
    const damaged = await copy(await read());
    const removed = options.removeSource ? await removeSource(await read()) : null;
    const { files, bytes } = damaged;
    return { from: source.kind, files, bytes, damaged: damaged.keys, removed };
  } finally {
    for (const store of opened) await store.close();
    await client.end();
  }
}

type Shared = Omit<Migrating, "migration">;

async function readMigration({ client, config }: Shared): Promise<StoreMigration> {
  const { migration } = await readStores(client, config);
  if (migration === null) throw new MoveError("the migration was ended by another command");
  return migration;
}

/** Checks and marks the target, and makes all processes read from both stores. */
async function begin(shared: Shared): Promise<void> {
  const { db, source, target, client } = shared;
  for (const store of [source, target]) {
    await store.probe().catch((error: Error) => {
      throw new MoveError(`the ${store.kind} file store can't be used: ${error.message}`);
    });
  }
  const sourceId = await readStoreId(db, source);
  if (sourceId === null)
    throw new MoveError(
      `the ${source.kind} file store at the configured location was never used with this database; correct PARLEY_DATA_DIR or the PARLEY_S3_… settings`,
    );
  const targetId = (await readStoreId(db, target)) ?? (await markSecondStore(db, target));
  if (targetId === sourceId) throw new MoveError("source and target are the same store");
  for (const prefix of [recordingsPrefix, uploadsPrefix, importsPrefix, notesPrefix])
    for await (const { key } of target.list(prefix))
      throw new MoveError(
        `the ${target.kind} file store has files already, such as ${key}; choose an empty folder, bucket or PARLEY_S3_PREFIX`,
      );
  const step = await changeStores(client, () =>
    client.query(
      "insert into store_migration (source, target, source_store, target_store) values ($1, $2, $3, $4)",
      [source.kind, target.kind, sourceId, targetId],
    ),
  );
  await waitForPreparation(shared, step);
}

/** Without all processes the migration is canceled. */
async function waitForPreparation(shared: Shared, step: number): Promise<void> {
  const laggards = await waitForProcesses(shared, step, prepareMs);
  if (laggards.length === 0) return;
  await changeStores(shared.client, () => shared.client.query("delete from store_migration"));
  throw new MoveError(
    `${describe(laggards)} can't use the ${shared.target.kind} file store. Give all processes its settings and restart them; their log says what is missing. Nothing was changed`,
  );
}

function describe(laggards: readonly Laggard[]): string {
  const places = [...new Set(laggards.map(({ address }) => address ?? "this machine"))].join(", ");
  return `${laggards.length} ${laggards.length === 1 ? "process" : "processes"} (${places})`;
}

/** Makes all processes write to the target. An interrupted command may have left some that read only the source. */
async function writeToTarget(shared: Shared): Promise<void> {
  const { client, config } = shared;
  const { step }: StoresInUse = await readStores(client, config);
  await waitForPreparation(shared, step);
  await copySecret(shared);
  await changeStores(client, async () => {
    await client.query("update store_migration set state = 'copying'");
    await client.query(
      "update installation set store_kind = target, store_id = target_store from store_migration",
    );
  });
}

/**
 * Gives the target the current secret, which every process needs to start. The target may have an earlier one; as long as
 * files are written to it, its own is the current one.
 */
async function copySecret({ client, config, source, target }: Shared): Promise<void> {
  if ((await readStores(client, config)).first === target.kind) return;
  for await (const { key } of source.list("parley/secret")) {
    const { body, info } = await source.get(key);
    await target.put(key, body, { contentLength: info.size });
  }
}

/** Continues a migration in the other direction: what was its target becomes its source. */
async function turnBack(shared: Shared, { state, source }: StoreMigration): Promise<void> {
  const { client } = shared;
  if (state === "removing")
    throw new MoveError(
      `files are being removed from the ${source} file store; finish that with \`parley storage migrate --to ${source === "s3" ? "local" : "s3"} --remove-source\``,
    );
  await copySecret(shared);
  await changeStores(client, async () => {
    await client.query(
      `update store_migration set source = target, target = source, source_store = target_store,
         target_store = source_store, state = 'copying', copied_through = null, files = 0, bytes = 0, switched_at = null`,
    );
    await client.query(
      "update installation set store_kind = target, store_id = target_store from store_migration",
    );
  });
}

/** Copies all files once nothing is written to the source any more. */
async function copy(
  migrating: Migrating,
): Promise<{ readonly files: number; readonly bytes: number; readonly keys: readonly string[] }> {
  const { client, config, db, onProgress, migration } = migrating;
  if (migration.state !== "copying") return { files: migration.files, bytes: migration.bytes, keys: [] };
  const { step } = await readStores(client, config);
  // Writes in flight may be uploads that take hours.
  await waitForProcesses(migrating, step, Number.POSITIVE_INFINITY);
  if (migration.switched_at === null)
    await client.query("update store_migration set switched_at = clock_timestamp()");
  const { files: total } = await countStoredFiles({ db });
  const copied = await copyFiles(migrating, (files, bytes) =>
    onProgress({ phase: "files", total, done: files, bytes }),
  );
  await client.query("update store_migration set state = 'copied'");
  return copied;
}
