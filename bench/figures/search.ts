import { appRequest, publicRequest, send } from "../api.ts";
import type { Bench } from "../bench.ts";
import { makeSpoken, type SpokenSet } from "../data/spoken.ts";
import { type Comparison, compare, p95 } from "../load.ts";
import { elapsed, type Figure, ratioFigure } from "../report.ts";
import type { Sizes } from "../sizes.ts";

/** Changes whenever the generator or the index does. */
const recipeVersion = 1;

interface Group {
  readonly name: string;
  readonly queries: readonly string[];
}

function groupsOf({ commonest, rare }: SpokenSet): Group[] {
  const pairs = (join: (a: string, b: string) => string) =>
    rare.map((word, k) => join(commonest[k] ?? "", word));
  return [
    { name: "the 20 commonest words", queries: commonest },
    { name: "rare words", queries: rare },
    { name: "a common and a rare word", queries: pairs((a, b) => `${a} ${b}`) },
    {
      name: "phrases of common words",
      queries: ['"of the"', '"in the"', '"to be"', '"and the"', '"it for"'],
    },
    { name: "beginnings", queries: ["pre*", "con*", "sta*", "der*", "th*"] },
    { name: "common without a rare word", queries: pairs((a, b) => `${a} -${b}`) },
    { name: "words found nowhere", queries: ["qqxqx", "zzyzx", "xxkcd"] },
  ];
}

/** Searches in 1,000 hours of transcript, 600,000 segments, against a page of List Recordings. */
export async function measureSearch({ postgres, start, sizes }: Bench): Promise<Figure[]> {
  const startedAt = performance.now();
  const data = await postgres.database("parley_search", `${recipeVersion}:${sizes.searchHours}`, (db) =>
    makeSpoken(db, sizes.searchHours, (text) =>
      console.error(`  ${elapsed(startedAt)}  parley_search: ${text}`),
    ),
  );
  // As a worker does every few seconds.
  await data.db.pool.query("select gin_clean_pending_list('search_recordings_words')");
  const server = await start(data, { PARLEY_ROLE: "api" });
  const { made } = data;
  const run = async (target: Parameters<typeof send>[0]): Promise<unknown> => (await send(target)).text();
  const find = (token: string, q: string) => () =>
    run(appRequest({ server, token }, "GET", `/search?${new URLSearchParams({ q })}`));
  const page = () => run(publicRequest({ server, token: made.workspaceToken }, "POST", "/recordings", {}));
  const figures: Figure[] = [];
  for (const { name, queries } of groupsOf(made))
    for (const [who, token] of [
      ["workspace token", made.workspaceToken],
      ["who sees half", made.memberToken],
      ["who sees 100", made.guestToken],
      ["who sees nothing", made.strangerToken],
    ] as const) {
      const compared = await compareP95(
        sizes,
        [page],
        queries.map((q) => find(token, q)),
      );
      figures.push(
        ratioFigure(`p95: search, ${name}, ${who}: to a page of List Recordings`, " ms", compared, {
          max: 4,
        }),
      );
    }
  // What is in a thousand recordings that one can't see must not show in the time either.
  const hidden = await compareP95(
    sizes,
    [find(made.strangerToken, "qqxqx")],
    made.commonest.map((q) => find(made.strangerToken, q)),
  );
  figures.push(
    ratioFigure("p95: search, words only in what one can't see: to words found nowhere", " ms", hidden, {}),
  );
  await server.stop();
  return figures;
}

type Work = () => Promise<unknown>;

/** In each round each is done several times, in turns; the 95th of a hundred decides. */
async function compareP95(
  { rounds, searchSamples }: Sizes,
  baseline: readonly Work[],
  subject: readonly Work[],
): Promise<Comparison> {
  const time = async (works: readonly Work[], n: number): Promise<number> => {
    const startedAt = performance.now();
    await works[n % works.length]?.();
    return performance.now() - startedAt;
  };
  for (const works of [baseline, subject]) for (const work of works.slice(0, searchSamples)) await work();
  const seen: { baseline: number; subject: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const times = { baseline: [] as number[], subject: [] as number[] };
    for (let n = 0; n < searchSamples; n += 1) {
      times.baseline.push(await time(baseline, n));
      times.subject.push(await time(subject, n));
    }
    seen.push({ baseline: p95(times.baseline), subject: p95(times.subject) });
  }
  return compare(seen);
}
