import type { Database, Tx } from "../../server/platform/db/database.ts";
import { insertSegments, type NewSegment } from "../../server/recordings/recordings/create.ts";
import { makeSpeech } from "../data/speech.ts";
import { insertMeeting, type SpokenSet } from "../data/spoken.ts";
import type { BenchDatabase } from "../database.ts";
import { takeTurns } from "../load.ts";
import { type Figure, ratioFigure } from "../report.ts";
import type { Sizes } from "../sizes.ts";

/** What a transcript of four hours, 2,400 segments, costs with the index, to without; both are removed again. */
export async function measureIndexing(
  { db, made }: BenchDatabase<SpokenSet>,
  { rounds, indexedHours }: Sizes,
): Promise<Figure[]> {
  const speech = makeSpeech(7);
  const segments: NewSegment[] = Array.from({ length: 600 * indexedHours }, (_, n) => ({
    participant_id: null,
    speaker: "Ada",
    start_ms: n * 6000,
    end_ms: n * 6000 + 5900,
    text: speech.sentence(),
  }));
  const alone = (isIndexed: boolean) => () => insertAlone(db, made, segments, isIndexed);
  const whole = (isIndexed: boolean) => async () => {
    const meeting = makeSpeech(9);
    const { result, took } = await timed(db, isIndexed, (tx) =>
      insertMeeting(tx, made.workspaceId, 1, meeting, [], indexedHours),
    );
    await db.pool.query("delete from recordings where id = $1", [result]);
    return took;
  };
  const figures: Figure[] = [];
  for (const [name, measure] of [
    ["its segments alone", alone],
    ["the recording with all that belongs to it", whole],
  ] as const) {
    for (const isIndexed of [false, true]) await measure(isIndexed)();
    const compared = await takeTurns(rounds * 3, measure(false), measure(true));
    figures.push(
      ratioFigure(`inserting ${indexedHours} h with the index, ${name}: to without`, " ms", compared, {}),
    );
    const ratio = compared.ratio - 1;
    figures.push(
      ratioFigure(
        `indexing ${indexedHours} h: to inserting ${name} without`,
        " ms",
        {
          baseline: compared.baseline,
          subject: compared.subject - compared.baseline,
          ratio,
          min: compared.min - 1,
          max: compared.max - 1,
        },
        { max: 2 },
      ),
    );
  }
  return figures;
}

async function insertAlone(
  db: Database,
  { workspaceId }: SpokenSet,
  segments: readonly NewSegment[],
  isIndexed: boolean,
): Promise<number> {
  const id = await db.kysely
    .transaction()
    .execute((tx) => insertMeeting(tx, workspaceId, 1, makeSpeech(1), [], 0));
  const { took } = await timed(db, isIndexed, (tx) => insertSegments(tx, id, segments));
  await db.pool.query("delete from recordings where id = $1", [id]);
  return took;
}

/** Without the index no trigger of the search runs; foreign keys are checked all the same. */
async function timed<T>(
  db: Database,
  isIndexed: boolean,
  work: (tx: Tx) => Promise<T>,
): Promise<{ result: T; took: number }> {
  const setTriggers = async (state: "enable" | "disable"): Promise<void> => {
    for (const table of ["transcript_segments", "recordings", "participants", "recording_grants"])
      await db.pool.query(`alter table ${table} ${state} trigger user`);
  };
  if (!isIndexed) await setTriggers("disable");
  try {
    const startedAt = performance.now();
    const result = await db.kysely.transaction().execute(work);
    return { result, took: performance.now() - startedAt };
  } finally {
    if (!isIndexed) await setTriggers("enable");
  }
}
