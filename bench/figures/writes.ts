import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import type { Database } from "../../server/platform/db/database.ts";
import { type Client, createUpload, publicRequest, send } from "../api.ts";
import type { Bench } from "../bench.ts";
import type { Dataset } from "../data/dataset.ts";
import { makeSpeech } from "../data/speech.ts";
import type { BenchDatabase } from "../database.ts";
import { takeTurns } from "../load.ts";
import { clockMs, databaseMs } from "../processor-time.ts";
import { type Figure, ratioFigure } from "../report.ts";

/** Segments of an uploaded transcript, as a meeting of ten minutes has. */
const segmentCount = 100;

/**
 * What changes cost PostgreSQL, with all that follows in the background: renaming a recording, to an update of a row of such a
 * table with its revision; and uploading a transcript, to inserting its rows.
 */
export async function measureWrites({ main, sizes }: Bench): Promise<Figure[]> {
  if (process.platform !== "linux") return [];
  const { data, server } = await main();
  const client: Client = { server, token: data.made.workspaceToken };
  const { pool } = data.db;
  const renameOne = await renamer(client, data);
  const { updateOne, insertOne } = await bareWrites(data.db);
  /** Processor time of PostgreSQL for each of so many, with what it would have needed anyway. */
  const cost = async (count: number, write: (n: number) => Promise<void>): Promise<number> => {
    const before = await databaseMs(pool);
    for (let n = 0; n < count; n += 1) await write(n);
    await drained(data);
    return Math.max((await databaseMs(pool)) - before, clockMs) / count;
  };
  const upload = uploader(client, data);
  for (const write of [renameOne, updateOne, upload, insertOne])
    for (let n = 0; n < sizes.warmUps.writes; n += 1) await write(n);
  await drained(data);
  const renaming = await takeTurns(
    sizes.rounds,
    () => cost(sizes.writes, updateOne),
    () => cost(sizes.writes, renameOne),
  );
  const uploads = Math.ceil(sizes.writes / 10);
  const uploading = await takeTurns(
    sizes.rounds,
    () => cost(sizes.writes, insertOne),
    () => cost(uploads, upload),
  );
  return [
    ratioFigure("rename: PostgreSQL's time to an update of a row with its revision", " ms", renaming, {}),
    ratioFigure(
      `upload of a transcript of ${segmentCount} segments: PostgreSQL's time to an insert of its rows`,
      " ms",
      uploading,
      {},
    ),
  ];
}

/** Waits until events and jobs that follow the changes are done. */
async function drained({ db }: BenchDatabase<Dataset>): Promise<void> {
  for (;;) {
    const { rows } = await db.pool.query<{ waits: boolean }>(
      "select exists (select from waiting_events) as waits",
    );
    if (rows[0]?.waits === false) break;
    await delay(20);
  }
  await delay(200);
}

async function renamer(
  client: Client,
  { db, made }: BenchDatabase<Dataset>,
): Promise<(n: number) => Promise<void>> {
  const { rows } = await db.pool.query<{ id: string }>(
    "select id from recordings where workspace_id = $1 order by id limit 1000",
    [made.workspaceId],
  );
  // As everywhere but in a generated database, they have entries in the search.
  await db.pool.query("select parley_search_mark_changed($1, true, true)", [rows.map(({ id }) => id)]);
  // A kept database has the titles of earlier runs.
  let turn = Date.now();
  return async () => {
    turn += 1;
    const title = `Renamed for the ${turn}th time`;
    const path = `/recordings/${rows[turn % rows.length]?.id}`;
    await (await send(publicRequest(client, "PATCH", path, { title }))).arrayBuffer();
  };
}

/**
 * What a change needs at least, on a table with the columns of recordings and as many indexes: a transaction that reads a
 * row, updates it, and inserts a revision with the old and the new row; and one that inserts the rows of a transcript.
 */
async function bareWrites(db: Database): Promise<Record<"updateOne" | "insertOne", () => Promise<void>>> {
  await db.pool.query(`
    drop table if exists bench_lines, bench_revisions, bench_rows;
    create table bench_rows (like recordings including defaults);
    insert into bench_rows select * from recordings limit 1000;
    alter table bench_rows add primary key (id);
    create index on bench_rows (workspace_id, id);
    create index on bench_rows (meeting_type_id);
    create index on bench_rows (title);
    create table bench_revisions (
      id bigint generated always as identity primary key, row_id uuid not null references bench_rows (id),
      before jsonb not null, data jsonb not null, created_at timestamptz not null default now());
    create index on bench_revisions (row_id);
    create table bench_lines (
      row_id uuid not null references bench_rows (id), batch integer, position integer, speaker text not null,
      start_ms integer not null, end_ms integer not null, text text not null, primary key (row_id, batch, position));
    create index on bench_lines (speaker)`);
  const { rows } = await db.pool.query<{ id: string }>("select id from bench_rows");
  const speech = makeSpeech(3);
  let turn = 0;
  /** Changes the next row, and inserts a revision with the whole row as it was before and as it is. */
  const change = async (write: (client: pg.ClientBase, id: string) => Promise<unknown>): Promise<void> => {
    turn += 1;
    const id = rows[turn % rows.length]?.id ?? "";
    const client = await db.pool.connect();
    try {
      await client.query("begin");
      const before = await client.query("select * from bench_rows where id = $1 for update", [id]);
      await write(client, id);
      await client.query(
        `insert into bench_revisions (row_id, before, data)
         select id, $2::jsonb, to_jsonb(b) from bench_rows b where id = $1`,
        [id, JSON.stringify(before.rows[0])],
      );
      await client.query("commit");
    } finally {
      client.release();
    }
  };
  return {
    updateOne: () =>
      change((client, id) =>
        client.query("update bench_rows set title = $2, updated_at = now() where id = $1", [
          id,
          `Renamed for the ${turn}th time`,
        ]),
      ),
    insertOne: () =>
      change((client, id) =>
        client.query(
          `insert into bench_lines (row_id, batch, position, speaker, start_ms, end_ms, text)
           select $1, $2, n, 'Ada', n * 6000, n * 6000 + 5900, text from unnest($3::text[]) with ordinality as t (text, n)`,
          [id, turn, Array.from({ length: segmentCount }, speech.sentence)],
        ),
      ),
  };
}

/** Uploads a transcript and waits for its recording. */
function uploader(client: Client, { db, made }: BenchDatabase<Dataset>): () => Promise<void> {
  const speech = makeSpeech(3);
  return async () => {
    const { id } = await createUpload(client, "transcript", {
      title: "Weekly meeting",
      recorder_ids: [made.adminId],
      participants: [
        { name: "Ada", speaker_key: "0" },
        { name: "Bo", speaker_key: "1" },
      ],
      transcript: {
        language: "en",
        segments: Array.from({ length: segmentCount }, (_, n) => ({
          speaker_key: String(n % 2),
          start: n * 6000,
          end: n * 6000 + 5900,
          text: speech.sentence(),
        })),
      },
    });
    for (;;) {
      const { rows } = await db.pool.query<{ status: string }>({
        name: "upload_status",
        text: "select status from uploads where id = $1",
        values: [id],
      });
      if (rows[0]?.status === "success") return;
      await delay(20);
    }
  };
}
