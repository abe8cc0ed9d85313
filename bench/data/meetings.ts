import type { Database } from "../../server/platform/db/database.ts";
import type { BenchDatabase, BenchPostgres } from "../database.ts";
import { elapsed } from "../report.ts";
import { generate } from "./generate.ts";
import { makePersonalToken, makeWorkspace } from "./people.ts";
import { makeSpeech } from "./speech.ts";

/** A workspace whose recordings are shared with everybody. */
export interface MeetingSet {
  readonly workspaceId: string;
  readonly workspaceToken: string;
  /** Of a user who has every sixteenth item. */
  readonly memberToken: string;
}

const recipeVersion = 2;
const domain = "meetings.example";
const each = 10;

/** A database with so many recordings that have ten action items each. */
export const withActionItems = (postgres: BenchPostgres, name: string, recordings: number) =>
  make(postgres, name, recordings, 2000, (db, ids) =>
    db.pool.query(
      `insert into action_items (recording_id, position, id, workspace_id, start_datetime, status, timestamp_ms, text, quote, assignee_key)
       select r.id, n, uuidv7(), r.workspace_id, r.start_datetime, case when n % 3 = 0 then 'completed' else 'pending' end,
         n * 1000, r.title || ': task number ' || n, 'I will do task number ' || n,
         'user' || (hashtextextended(r.id::text, n) & 15) || '@${domain}'
       from recordings r, generate_series(1, ${each}) n where r.id = any($1)`,
      [ids],
    ),
  );

/** A database with so many recordings that have a transcript of ten lines each. */
export function withTranscripts(postgres: BenchPostgres, name: string, recordings: number) {
  const speech = makeSpeech(7);
  // Triggers write the search entries.
  return make(postgres, name, recordings, 200, (db, ids) =>
    db.pool.query(
      `insert into transcript_segments (recording_id, position, speaker, start_ms, end_ms, text)
       select ($1::uuid[])[1 + (n - 1) / ${each}], (n - 1) % ${each}, 'Ada',
         (n - 1) % ${each} * 9000, (n - 1) % ${each} * 9000 + 8000, text
       from unnest($2::text[]) with ordinality as t (text, n)`,
      [ids, ids.flatMap(() => Array.from({ length: each }, speech.sentence))],
    ),
  );
}

/** Questions, each of words that are common and of some that are not. @param count up to 20. */
export function makeQuestions(count: number): string[] {
  const { words } = makeSpeech(7);
  return Array.from(
    { length: count },
    (_, n) =>
      `what did they say about the ${words[200 + n * 37]} and the ${words[3000 + n * 500]} of ${words[1000 + n * 91]}`,
  );
}

/** Questions of sixteen words that are in many recordings, and that no language drops. */
export function makeCommonQuestions(count: number): string[] {
  const common =
    "say make like time know take people year good see look come think back use two work first way even new want give day us get go would one well".split(
      " ",
    );
  return Array.from({ length: count }, (_, n) =>
    Array.from({ length: 16 }, (_, k) => common[(n * 7 + k) % common.length]).join(" "),
  );
}

/** @param fill adds what some of the recordings have, in batches of this size. */
function make(
  postgres: BenchPostgres,
  name: string,
  recordings: number,
  batchSize: number,
  fill: (db: Database, ids: readonly string[]) => Promise<unknown>,
): Promise<BenchDatabase<MeetingSet>> {
  return postgres.database(name, `${recipeVersion}:${recordings}`, async (db, connection) => {
    const startedAt = performance.now();
    const say = (text: string): void => console.error(`  ${elapsed(startedAt)}  ${name}: ${text}`);
    const { id, workspaceToken } = await makeWorkspace(db, "Meetings", domain);
    const plan = {
      id,
      domain,
      recordings,
      users: 20,
      teams: 5,
      sharedPercent: 100,
      rare: 0,
      guestEmail: null,
    };
    await generate(connection, [plan], say);
    const { rows } = await db.pool.query<{ id: string }>("select id from recordings order by id");
    for (let first = 0; first < rows.length; first += batchSize) {
      await fill(
        db,
        rows.slice(first, first + batchSize).map((row) => row.id),
      );
      if ((first / batchSize) % 10 === 9) say(`${first + batchSize} of ${rows.length} filled`);
    }
    for (const table of ["action_items", "transcript_segments", "search_recordings", "search_chunks"])
      await db.pool.query(`vacuum analyze ${table}`);
    return {
      ...{ workspaceId: id, workspaceToken },
      memberToken: await makePersonalToken(db, `user7@${domain}`),
    };
  });
}
