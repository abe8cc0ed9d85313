import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import { z } from "zod";
import type { Database } from "../../platform/db/database.ts";
import { ObjectExistsError, ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { countUnknown } from "./orphans.ts";

/** The object that names the database its store belongs to. */
export const markKey = "parley/database";

/**
 * `swept_event_id` grows with the events of the database, so that an older copy of the same database is recognized. `store` is the
 * id of this store, which the database knows too.
 */
const Marker = z.object({ installation: z.string(), high: z.number(), store: z.uuid().optional() });
type Marker = z.output<typeof Marker>;

const markOptions = { contentType: "application/json" } as const;

/** The file store is not the one that holds this database's files; the message is one line with the remedy. */
export class WrongStoreError extends Error {}

const checkSettings = "Correct PARLEY_DATA_DIR or the PARLEY_S3_… settings, or mount the missing volume";

/**
 * Makes sure, before anything is served or written, that the store holds this database's files. An unmarked store is
 * claimed when the database has no store and no files, and the store has no files either.
 * @throws WrongStoreError for any other unmarked store, and for another database's store.
 */
export async function verifyStore(db: Database, store: ObjectStore): Promise<void> {
  const mark = await readMarker(store);
  const own = await readInstallation(db);
  if (mark === null) {
    // Another process may have marked the store in between.
    if (own.store !== undefined && (await readMarker(store)) !== null) return verifyStore(db, store);
    if (own.store !== undefined || (await knowsFiles(db)))
      throw new WrongStoreError(
        `the database ${own.store === undefined ? "refers to files" : "was used with another file store"}, but the ${store.kind} file store at the configured location has never been used with it. ${checkSettings}. If this is the right store and the files are permanently lost, run \`parley files adopt\``,
      );
    if ((await countUnknown(db.kysely, store, 1)) > 0)
      throw new WrongStoreError(
        `the ${store.kind} file store at the configured location has files that are unknown to this database, and no owner marker. ${checkSettings}, or PARLEY_DATABASE_URL. If this is the right store for this database, run \`parley files adopt\``,
      );
    await claimStore(db, store);
    return;
  }
  if (mark.installation !== own.installation)
    throw new WrongStoreError(
      `the ${store.kind} file store at the configured location belongs to another database. ${checkSettings}, or PARLEY_DATABASE_URL. To use its files with this database, run \`parley files adopt\``,
    );
  if (own.store !== undefined && mark.store !== undefined && own.store !== mark.store)
    throw new WrongStoreError(
      `the ${store.kind} file store at the configured location is a different copy from the one this database uses. ${checkSettings}. To use this copy from now on, run \`parley files adopt\``,
    );
  if (own.store === undefined || mark.store === undefined) {
    const id = await rememberStore(db, mark.store ?? own.store ?? randomUUID(), false);
    if (mark.store === undefined) await store.put(markKey, bytesOf({ ...mark, store: id }), markOptions);
  }
}

/** Whether the database has recordings or uploads whose files must be in the store. */
async function knowsFiles(db: Database): Promise<boolean> {
  const { rows } = await sql<{ knows: boolean }>`
    select exists (select 1 from recording_media)
      or exists (select 1 from uploads
        where media_type <> 'transcript' and status in ('processing', 'staged', 'promoting')) as knows`.execute(
    db.kysely,
  );
  return rows[0]?.knows ?? false;
}

/** Marks an unmarked store. When several processes start at once, one of them marks it and all use its id. */
async function claimStore(db: Database, store: ObjectStore): Promise<void> {
  const id = randomUUID();
  try {
    await store.put(markKey, bytesOf({ ...(await advance(db)), store: id }), {
      ...markOptions,
      ifAbsent: true,
    });
    await rememberStore(db, id, true);
  } catch (error) {
    if (!(error instanceof ObjectExistsError)) throw error;
    await verifyStore(db, store);
  }
}

/** @returns the id that the database has now. */
async function rememberStore(db: Database, id: string, replace: boolean): Promise<string> {
  const { rows } = await sql<{ store_id: string }>`
    update installation set store_id = case when ${replace} then ${id}::uuid else coalesce(store_id, ${id}::uuid) end
    returning store_id`.execute(db.kysely);
  return rows[0]?.store_id ?? id;
}

/**
 * Why this database must not sweep the files in the store; null when they are its own. To a new, a wrong or an older
 * database everything in the store looks orphaned, and sweeping would remove it all. A store without a marker is
 * marked, if this database knows everything in it.
 */
export async function refusalToSweep(db: Database, store: ObjectStore): Promise<string | null> {
  // In this order: the database is never behind a marker that was read before it.
  const mark = await readMarker(store);
  const own = await readInstallation(db);
  const adopt =
    "To use them with this database, run `parley files adopt`, which lists what that would remove";
  if (mark === null) {
    if (own.store !== undefined) {
      // Another process may have marked the store in between.
      if ((await readMarker(store)) !== null) return refusalToSweep(db, store);
      return `the file store has lost its owner marker, or a different store is mounted in its place. Nothing is removed. ${checkSettings}, and restart`;
    }
    if ((await countUnknown(db.kysely, store, 1)) > 0)
      return `the store has files that are unknown to this database, and no owner marker. Nothing is removed. Start Parley with the database that the files belong to. ${adopt}`;
    await claimStore(db, store);
    return null;
  }
  if (mark.installation !== own.installation || (own.store !== undefined && own.store !== mark.store))
    return `the files in the store belong to another database. Nothing is removed. Start Parley with that database, or with a separate store for this one. ${adopt}`;
  if (mark.high > own.high)
    return `the database is an older copy than the files in the store: it was restored from a backup. Nothing is removed. Restore the newer database, or the files from the same time. ${adopt}`;
  const now = await advance(db);
  if (now.high > mark.high) await store.put(markKey, bytesOf(now), markOptions);
  return null;
}

/**
 * Makes the files in the configured store this database's, whichever database they belonged to.
 * @throws WrongStoreError while files are migrated between two stores.
 */
export async function adoptStore(db: Database, store: ObjectStore): Promise<void> {
  const { rows } = await sql`select from store_migration`.execute(db.kysely);
  if (rows.length > 0)
    throw new WrongStoreError(
      "files are being migrated to another store; finish that first with `parley storage migrate`",
    );
  await sql`update installation set store_kind = null`.execute(db.kysely);
  const id = await rememberStore(db, randomUUID(), true);
  await store.put(markKey, bytesOf({ ...(await advance(db)), store: id }), markOptions);
}

/** Marks a store as that of a restored database, whose `installation` row says the same. */
export async function writeMarker(store: ObjectStore, mark: Required<Marker>): Promise<void> {
  await store.put(markKey, bytesOf(mark), markOptions);
}

/** The id in a store's marker; null where there is none. @throws WrongStoreError if it is another database's. */
export async function readStoreId(db: Database, store: ObjectStore): Promise<string | null> {
  const mark = await readMarker(store);
  if (mark !== null && mark.installation !== (await readInstallation(db)).installation)
    throw new WrongStoreError(
      `the ${store.kind} file store at the configured location belongs to another database. ${checkSettings}`,
    );
  return mark?.store ?? null;
}

/** Marks an empty store as one of this database, which does not use it yet. @returns its new id. */
export async function markSecondStore(db: Database, store: ObjectStore): Promise<string> {
  const { installation, high } = await readInstallation(db);
  const id = randomUUID();
  await writeMarker(store, { installation, high, store: id });
  return id;
}

async function readMarker(store: ObjectStore): Promise<Marker | null> {
  try {
    const { body } = await store.get(markKey);
    const mark = Marker.safeParse(parse(await text(body)));
    // Edited by hand: a name that no database has.
    return mark.data ?? { installation: "", high: 0 };
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    throw error;
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null; // Not written by Parley, so not a marker.
  }
}

function bytesOf(mark: Marker): Buffer {
  return Buffer.from(JSON.stringify(mark));
}

async function readInstallation(db: Database): Promise<Marker> {
  const { rows } = await sql<InstallationRow>`select id, swept_event_id, store_id from installation`.execute(
    db.kysely,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the table installation has lost its row");
  return toMark(row);
}

interface InstallationRow {
  readonly id: string;
  readonly swept_event_id: string;
  readonly store_id: string | null;
}

function toMark({ id, swept_event_id, store_id }: InstallationRow): Marker {
  return {
    installation: id,
    high: Number(swept_event_id),
    ...(store_id === null ? {} : { store: store_id }),
  };
}

/**
 * Advances `swept_event_id` to the last event. It is committed durably before the marker says it, whatever the database's
 * settings, so that after a crash the database is not mistaken for an older copy of itself.
 */
async function advance(db: Database): Promise<Marker> {
  return db.kysely.transaction().execute(async (tx) => {
    await sql`set local synchronous_commit = on`.execute(tx);
    const { rows } = await sql<InstallationRow>`
      update installation set swept_event_id = greatest(swept_event_id,
        coalesce(pg_sequence_last_value(pg_get_serial_sequence('events', 'id')::regclass), 0))
      returning id, swept_event_id, store_id`.execute(tx);
    const [row] = rows;
    if (row === undefined) throw new Error("the table installation has lost its row");
    return toMark(row);
  });
}
