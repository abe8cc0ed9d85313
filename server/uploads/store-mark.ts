import { text } from "node:stream/consumers";
import { sql } from "kysely";
import { z } from "zod";
import type { Database } from "../db/database.ts";
import { ObjectExistsError, ObjectMissingError, type ObjectStore } from "../storage/store.ts";
import type { SweepLog } from "./each-alone.ts";
import { countUnknown } from "./orphans.ts";

/** Where the store says to which database its files belong. */
export const markKey = "parley/database";

/** `high` grows with the events of the database, so that an older copy of the same database is seen to be one. */
const Mark = z.object({ installation: z.string(), high: z.number() });
type Mark = z.output<typeof Mark>;

const markOptions = { contentType: "application/json" } as const;

/**
 * Why the files in the store must not be swept by this database; null when they are its own. To a fresh, a wrong or an
 * older database everything in the store looks orphaned, and sweeping would remove it all. A store without a mark is
 * marked, if there is nothing in it that this database does not know.
 */
export async function refusalToSweep(db: Database, store: ObjectStore): Promise<string | null> {
  // In this order: the database is never behind a mark that was read before it.
  const mark = await readMark(store);
  const own = await readInstallation(db);
  const adopt =
    "If they are to belong to this database, run `parley files adopt`, which says what that would remove";
  if (mark === null) {
    if ((await countUnknown(db.kysely, store, 1)) > 0)
      return `the store holds files that this database does not know, and no word of whose they are. Nothing is removed. Start Parley with the database that they belong to. ${adopt}`;
    try {
      await store.put(markKey, bytesOf(await advance(db)), { ...markOptions, ifAbsent: true });
      return null;
    } catch (error) {
      if (!(error instanceof ObjectExistsError)) throw error;
      // Another process was faster; its mark may be one of another database.
      return refusalToSweep(db, store);
    }
  }
  if (mark.installation !== own.installation)
    return `the files in the store belong to another database. Nothing is removed. Start Parley with the database that they belong to, or with a store of its own. ${adopt}`;
  if (mark.high > own.high)
    return `the database is an older copy than the files in the store: it was restored from a backup. Nothing is removed. Restore the newer database, or the files of the same time. ${adopt}`;
  const now = await advance(db);
  if (now.high > mark.high) await store.put(markKey, bytesOf(now), markOptions);
  return null;
}

/** Makes the files in the store this database's, whoever they belonged to. */
export async function adoptStore(db: Database, store: ObjectStore): Promise<void> {
  await store.put(markKey, bytesOf(await advance(db)), markOptions);
}

/**
 * A gate before the sweep of orphans.
 * @returns asks whether files may be removed; a refusal is logged once an hour, beginning with the first.
 */
export function createSweepGate(db: Database, store: ObjectStore, log: SweepLog): () => Promise<boolean> {
  const repeatMs = 3_600_000;
  let toldAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const refusal = await refusalToSweep(db, store);
    if (refusal === null) return true;
    if (performance.now() - toldAt >= repeatMs) {
      toldAt = performance.now();
      log.error(refusal);
    }
    return false;
  };
}

async function readMark(store: ObjectStore): Promise<Mark | null> {
  try {
    const { body } = await store.get(markKey);
    const mark = Mark.safeParse(parse(await text(body)));
    // Whoever has changed it: a name that no database has.
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
    return null; // Not ours, and no mark therefore.
  }
}

function bytesOf(mark: Mark): Buffer {
  return Buffer.from(JSON.stringify(mark));
}

async function readInstallation(db: Database): Promise<Mark> {
  const { rows } = await sql<{ id: string; high: string }>`select id, high from installation`.execute(
    db.kysely,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the table installation has lost its row");
  return { installation: row.id, high: Number(row.high) };
}

/**
 * Brings `high` up to the last event. It is written down before the mark says it, for good whatever the database is
 * set to, so that after a crash the database is not taken for an older copy of itself.
 */
async function advance(db: Database): Promise<Mark> {
  return db.kysely.transaction().execute(async (tx) => {
    await sql`set local synchronous_commit = on`.execute(tx);
    const { rows } = await sql<{ id: string; high: string }>`
      update installation set high = greatest(high,
        coalesce(pg_sequence_last_value(pg_get_serial_sequence('events', 'id')::regclass), 0))
      returning id, high`.execute(tx);
    const [row] = rows;
    if (row === undefined) throw new Error("the table installation has lost its row");
    return { installation: row.id, high: Number(row.high) };
  });
}
