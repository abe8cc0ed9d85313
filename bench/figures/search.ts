import { join } from "node:path";
import type pg from "pg";
import { type SearchFilter, stretchStatement } from "../../server/recordings/search/find.ts";
import { readQuery } from "../../server/recordings/search/read-query.ts";
import { makeSpoken, type SpokenSet } from "../data/spoken.ts";
import type { BenchDatabase, BenchPostgres } from "../database.ts";
import { type Comparison, median } from "../load.ts";
import { elapsed, type Figure, ratioFigure } from "../report.ts";
import { type RunningServer, startParley } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import { apiRequest } from "./requests.ts";
import { measureIndexing } from "./search-indexing.ts";

/** Changes whenever the generator or the index does. */
const recipeVersion = 1;

/** 1,000 hours of transcript: 600,000 segments. */
export async function measureSearch(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  const startedAt = performance.now();
  const data = await postgres.database("parley_search", `${recipeVersion}:${sizes.searchHours}`, (db) =>
    makeSpoken(db, sizes.searchHours, (text) =>
      console.error(`  ${elapsed(startedAt)}  parley_search: ${text}`),
    ),
  );
  await createBareFind(data.db.pool);
  // As a worker does every few seconds; an earlier run on a kept database may have left some.
  await data.db.pool.query("select gin_clean_pending_list('search_recordings_words')");
  const server = await startParley({
    PARLEY_ROLE: "api",
    PARLEY_DATABASE_URL: data.url,
    PARLEY_DATA_DIR: join(postgres.folder, "search"),
  });
  try {
    return [...(await measureQueries(data, server, sizes)), ...(await measureIndexing(data, sizes))];
  } finally {
    await server.stop();
  }
}

/** The baseline: the same question to the same index without who may see. */
async function createBareFind(pool: pg.Pool): Promise<void> {
  await pool.query(`create or replace function bench_find_all(viewers uuid[], wanted tsquery, ranked tsquery)
    returns table (recording_id uuid, start_datetime timestamptz, head_score integer)
    language sql stable rows 100 set enable_seqscan = off set jit = off as $$
      select s.recording_id, s.start_datetime,
        case when s.head @@ ranked
          then (1000000 * (numnode(ranked) + 1) * ts_rank('{0, 0.3, 0.6, 1}', s.head, ranked))::integer
          else 0
        end
      from search_recordings s where s.words @@ wanted $$`);
}

interface Group {
  readonly name: string;
  readonly queries: readonly string[];
  readonly filter?: SearchFilter;
}

function groupsOf({ commonest, rare }: SpokenSet): Group[] {
  const pair = (n: number, join: (a: string, b: string) => string) =>
    rare.slice(0, n).map((word, k) => join(commonest[k] ?? "", word));
  return [
    { name: "the 20 commonest words", queries: commonest },
    { name: "rare words", queries: rare },
    { name: "a common and a rare word", queries: pair(20, (a, b) => `${a} ${b}`) },
    {
      name: "phrases of common words",
      queries: ['"of the"', '"in the"', '"to be"', '"and the"', '"it for"'],
    },
    { name: "beginnings", queries: ["pre*", "con*", "sta*", "der*", "th*"] },
    { name: "common without a rare word", queries: pair(20, (a, b) => `${a} -${b}`) },
    { name: "words found nowhere", queries: ["qqxqx", "zzyzx", "xxkcd"] },
  ];
}

async function measureQueries(
  { db, made }: BenchDatabase<SpokenSet>,
  server: RunningServer,
  sizes: Sizes,
): Promise<Figure[]> {
  const tokens = [
    ["workspace token", made.workspaceToken],
    ["who sees half", made.memberToken],
    ["who sees 100", made.guestToken],
    ["who sees nothing", made.strangerToken],
  ] as const;
  const page = (token: string) => () => send(apiRequest(server, token, "POST", "/recordings", {}));
  const figures: Figure[] = [];
  for (const group of groupsOf(made)) {
    for (const [who, token] of tokens) {
      const searches = group.queries.map((q) => () => find(server, token, q));
      const toPage = await compareP95(sizes, [page(made.workspaceToken)], searches);
      figures.push(p95Figure(`search, ${group.name}, ${who}: to a page of List Recordings`, toPage, 4));
      if (who === "who sees nothing") continue;
      const sees = await seenBy(db.pool, made, who);
      const bare: Work[] = [];
      const filtered: Work[] = [];
      for (const q of group.queries) {
        const statements = await statementsOf(db.pool, sees, q);
        bare.push(() => db.pool.query(statements.bare));
        filtered.push(() => db.pool.query(statements.filtered));
      }
      const name = `search, ${group.name}, ${who}`;
      const sqlToBare = await compareP95(sizes, bare, filtered);
      figures.push(p95Figure(`${name}: its SQL to the same without permissions`, sqlToBare, 3));
      // The whole has all statements: the token's, and those of snippets and moments.
      const wholeToBare = await compareP95(sizes, bare, searches);
      figures.push(p95Figure(`${name}: whole request to that one statement`, wholeToBare));
    }
  }
  // What is in a thousand recordings that one can't see must not show in the time either.
  const hidden = await compareP95(
    sizes,
    ["qqxqx"].map((q) => () => find(server, made.strangerToken, q)),
    made.commonest.map((q) => () => find(server, made.strangerToken, q)),
  );
  figures.push(p95Figure("search, words only in what one can't see: to words found nowhere", hidden));
  return figures;
}

async function seenBy(pool: pg.Pool, { workspaceId }: SpokenSet, who: string): Promise<readonly string[]> {
  if (who === "workspace token") return [workspaceId];
  const name = who === "who sees half" ? "member" : "guest";
  const { rows } = await pool.query<{ id: string }>(
    "select id from users where workspace_id = $1 and name = $2",
    [workspaceId, name],
  );
  return rows.map((row) => row.id);
}

async function statementsOf(pool: pg.Pool, sees: readonly string[], q: string) {
  const filtered = stretchStatement({ sees }, await readQuery(pool, q), {}, null, null);
  const text = filtered.text.replace("parley_search_find(", "bench_find_all(");
  if (text === filtered.text)
    throw new Error("the statement of the search has another form now: adapt bench/");
  // The server's statement is prepared under its name.
  return {
    filtered,
    bare:
      filtered.name === undefined
        ? { ...filtered, text }
        : { ...filtered, name: `bench_${filtered.name}`, text },
  };
}

export async function find(server: RunningServer, token: string, q: string): Promise<void> {
  const target = apiRequest(server, token, "GET", "");
  await send({ ...target, url: `${server.url}/_/api/v1/search?${new URLSearchParams({ q })}` });
}

async function send(target: ReturnType<typeof apiRequest>): Promise<void> {
  const { "content-length": _, ...headers } = target.headers;
  const { url, method, body } = target;
  const answer = await fetch(url, { method, headers, ...(body === "" ? {} : { body }) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${url} returned ${answer.status}: ${text}`);
}

export type Work = () => Promise<unknown>;

/** In each round each is done several times, in turns; the 95th of a hundred decides. */
export async function compareP95(
  { rounds, searchSamples }: Sizes,
  baseline: readonly Work[],
  subject: readonly Work[],
): Promise<Comparison> {
  for (const works of [baseline, subject]) for (const work of works.slice(0, searchSamples)) await work();
  const seen: { baseline: number; subject: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const times = { baseline: [] as number[], subject: [] as number[] };
    for (let n = 0; n < searchSamples; n += 1) {
      times.baseline.push(await time(baseline[n % baseline.length]));
      times.subject.push(await time(subject[n % subject.length]));
    }
    seen.push({ baseline: p95(times.baseline), subject: p95(times.subject) });
  }
  const ratios = seen.map((round) => round.subject / round.baseline);
  return {
    baseline: median(seen.map((round) => round.baseline)),
    subject: median(seen.map((round) => round.subject)),
    ratio: median(ratios),
    min: Math.min(...ratios),
    max: Math.max(...ratios),
  };
}

async function time(work: Work | undefined): Promise<number> {
  const startedAt = performance.now();
  await work?.();
  return performance.now() - startedAt;
}

function p95(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;
}

export function p95Figure(name: string, compared: Comparison, max?: number): Figure {
  return ratioFigure(`p95: ${name}`, " ms", compared, max === undefined ? {} : { max });
}
