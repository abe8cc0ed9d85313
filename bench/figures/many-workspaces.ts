import { join } from "node:path";
import { type ManyWorkspaces, makeManyWorkspaces } from "../data/many-workspaces.ts";
import type { BenchDatabase, BenchPostgres } from "../database.ts";
import { type Load, median, startLoad, type Target, takeTurns } from "../load.ts";
import { elapsed, type Figure, type Goal, ratioFigure } from "../report.ts";
import { benchSecret, type RunningServer, startParley } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import { sendEvents, timeToArrive } from "./hooks-rate.ts";
import { type HookBench, insertEvents, originOf, setHooks, startHookBench } from "./hooks-setup.ts";
import { cursorOf } from "./latency.ts";
import { apiRequest } from "./requests.ts";
import { compareP95, find, p95Figure, type Work } from "./search.ts";

/** Changes with the generator, so that kept databases are created again. */
const recipeVersion = 1;

const goal = { max: 1.3 } as const satisfies Goal;

/** A database and a server that serves it. */
interface Side {
  readonly data: BenchDatabase<ManyWorkspaces>;
  readonly server: RunningServer;
}

/**
 * Whether a workspace is served as fast in a database with ten times as many workspaces. The measured workspace is the same
 * in both.
 */
export async function measureManyWorkspaces(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  const { workspaces } = sizes.manyWorkspaces;
  const few = await fill(postgres, Math.ceil(workspaces / 10), sizes);
  const many = await fill(postgres, workspaces, sizes);
  const name = `${many.made.recordings.toLocaleString("en")} recordings to ${few.made.recordings.toLocaleString("en")}`;
  return [
    ...(await measureRequests(postgres, few, many, name, sizes)),
    ...(await measureFanOut(postgres, few, many, name, sizes)),
  ];
}

function fill(
  postgres: BenchPostgres,
  workspaces: number,
  { manyWorkspaces }: Sizes,
): Promise<BenchDatabase<ManyWorkspaces>> {
  const plan = { ...manyWorkspaces, workspaces };
  const name = `parley_workspaces_${workspaces}`;
  const startedAt = performance.now();
  return postgres.database(name, `${recipeVersion}:${Object.values(plan).join(":")}`, (db, connection) =>
    makeManyWorkspaces(db, connection, plan, (text) =>
      console.error(`  ${elapsed(startedAt)}  ${name}: ${text}`),
    ),
  );
}

async function measureRequests(
  postgres: BenchPostgres,
  fewData: BenchDatabase<ManyWorkspaces>,
  manyData: BenchDatabase<ManyWorkspaces>,
  name: string,
  sizes: Sizes,
): Promise<Figure[]> {
  const servers: RunningServer[] = [];
  const load = startLoad(sizes);
  try {
    for (const { url, connection } of [fewData, manyData])
      servers.push(
        await startParley({
          PARLEY_ROLE: "api",
          PARLEY_DATABASE_URL: url,
          PARLEY_DATA_DIR: join(postgres.folder, connection.database),
          PARLEY_SECRET: benchSecret,
        }),
      );
    const [fewServer, manyServer] = servers as [RunningServer, RunningServer];
    const few = { data: fewData, server: fewServer };
    const many = { data: manyData, server: manyServer };
    return [
      ...(await measurePages(load, few, many, name, sizes)),
      ...(await measureSearches(few, many, name, sizes)),
    ];
  } finally {
    load.stop();
    for (const server of servers) await server.stop();
  }
}

async function measurePages(
  load: Load,
  few: Side,
  many: Side,
  name: string,
  { rounds, manyWorkspaces }: Sizes,
): Promise<Figure[]> {
  const pageNumber = Math.min(1000, Math.floor(manyWorkspaces.recordingsOfFirst / 50));
  const list = ({ data, server }: Side, body: object, token: "workspaceToken" | "memberToken"): Target =>
    apiRequest(server, data.made[token], "POST", "/recordings", body);
  const deep = async (side: Side): Promise<object> => ({ cursor: await cursorOf(side.data, pageNumber) });
  const bodies: [
    what: string,
    body: (side: Side) => object | Promise<object>,
    token: "workspaceToken" | "memberToken",
  ][] = [
    ["first page, workspace token", () => ({}), "workspaceToken"],
    ["first page, member", () => ({}), "memberToken"],
    [`page ${pageNumber}`, deep, "workspaceToken"],
    ["title search", () => ({ filter: { title_search: "warehouse" } }), "workspaceToken"],
  ];
  const figures: Figure[] = [];
  for (const [what, body, token] of bodies) {
    const [baseline, subject] = [list(few, await body(few), token), list(many, await body(many), token)];
    const compared = await load.compare("latency", baseline, subject, rounds);
    figures.push(ratioFigure(`${what}: ${name}`, " ms", compared, goal));
  }
  return figures;
}

async function measureSearches(few: Side, many: Side, name: string, sizes: Sizes): Promise<Figure[]> {
  const queries: [string, (made: ManyWorkspaces) => readonly string[]][] = [
    ["common words", ({ commonWords }) => commonWords],
    ["rare words", ({ rareWords }) => rareWords],
    [
      "a common and a rare word",
      ({ commonWords, rareWords }) => rareWords.map((word, n) => `${commonWords[n]} ${word}`),
    ],
  ];
  const figures: Figure[] = [];
  for (const [what, wordsOf] of queries)
    for (const token of ["workspaceToken", "memberToken"] as const) {
      const works = ({ data, server }: Side): Work[] =>
        wordsOf(data.made).map((q) => () => find(server, data.made[token], q));
      const compared = await compareP95(sizes, works(few), works(many));
      const who = token === "memberToken" ? "member" : "workspace token";
      figures.push(p95Figure(`search, ${what}, ${who}: ${name}`, compared, goal.max));
    }
  return figures;
}

/** One event to many hooks, and many events to one hook, from their insertion to the last arrival. */
async function measureFanOut(
  postgres: BenchPostgres,
  fewData: BenchDatabase<ManyWorkspaces>,
  manyData: BenchDatabase<ManyWorkspaces>,
  name: string,
  { hooks, rounds }: Sizes,
): Promise<Figure[]> {
  const type = "recording_updated";
  const benches: HookBench[] = [];
  try {
    for (const data of [fewData, manyData]) benches.push(await startHookBench(postgres, data));
    const [few, many] = benches as [HookBench, HookBench];
    const hook = (bench: HookBench, n: number) =>
      ({ type, url: `${originOf(bench.receiver, n)}/ok` }) as const;
    for (const bench of benches)
      await setHooks(
        bench,
        Array.from({ length: hooks.listeners }, (_, n) => hook(bench, n)),
      );
    const toMany = async (bench: HookBench): Promise<number> => {
      const times: number[] = [];
      for (let n = 0; n < 4; n += 1)
        times.push(await timeToArrive(bench, () => insertEvents(bench, type, 1), hooks.listeners));
      return median(times.slice(1));
    };
    const hundred = await takeTurns(
      rounds,
      () => toMany(few),
      () => toMany(many),
    );
    for (const bench of benches) await setHooks(bench, [hook(bench, 0)]);
    /** Microseconds for each event. */
    const toOne = async (bench: HookBench): Promise<number> =>
      1e6 / (await sendEvents(bench, type, hooks.events)).perSecond;
    for (const bench of benches) await toOne(bench);
    const each = await takeTurns(
      rounds,
      () => toOne(few),
      () => toOne(many),
    );
    return [
      ratioFigure(`hooks: one event to ${hooks.listeners} hooks: ${name}`, " ms", hundred, goal),
      ratioFigure(
        `hooks: ${hooks.events.toLocaleString("en")} events to one, each: ${name}`,
        " us",
        each,
        goal,
      ),
    ];
  } finally {
    for (const bench of benches) await bench.stop();
  }
}
