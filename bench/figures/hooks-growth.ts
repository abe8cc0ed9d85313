import { median, takeTurns } from "../load.ts";
import { type Figure, figure, type Goal, ratioFigure } from "../report.ts";
import { freePort } from "../servers.ts";
import { sendEvents, spread, timeToArrive } from "./hooks-rate.ts";
import { type HookBench, insertEvents, originOf, type PlannedHook, setHooks } from "./hooks-setup.ts";

const type = "recording_updated";

/** Whether cost grows no faster than what there is to do. */
export async function measureHookGrowth(
  bench: HookBench,
  { isQuick, rounds }: { isQuick: boolean; rounds: number },
): Promise<Figure[]> {
  return [
    await compareHookCounts(bench, 100, isQuick ? 300 : 1000, rounds),
    await compareEventCounts(bench, isQuick ? 2000 : 10_000, isQuick ? 20_000 : 100_000, isQuick ? 1 : 2),
    ...(await compareDead(bench, isQuick ? 20 : 50)),
  ];
}

const healthy = (bench: HookBench, n: number): PlannedHook => ({
  type,
  url: `${originOf(bench.receiver, n)}/ok`,
  include: { participants: true },
});

/** One event to many hooks, each with an origin of its own: until the last has it, for each hook. */
async function compareHookCounts(
  bench: HookBench,
  few: number,
  many: number,
  rounds: number,
): Promise<Figure> {
  const costOf = async (count: number): Promise<number> => {
    await setHooks(
      bench,
      Array.from({ length: count }, (_, n) => healthy(bench, n)),
    );
    const times: number[] = [];
    for (let n = 0; n < 4; n += 1)
      times.push(await timeToArrive(bench, () => insertEvents(bench, type, 1), count));
    return median(times.slice(1)) / count;
  };
  const compared = await takeTurns(
    rounds,
    () => costOf(few),
    () => costOf(many),
  );
  return ratioFigure(`hooks: one event to ${many} hooks, each, to ${few}`, "latency", compared, {
    most: 1.3,
  });
}

/** Many events to one hook: whether they go out as fast as a tenth of them. */
async function compareEventCounts(
  bench: HookBench,
  few: number,
  many: number,
  rounds: number,
): Promise<Figure> {
  await setHooks(bench, [healthy(bench, 0)]);
  const rate = async (count: number): Promise<number> => (await sendEvents(bench, type, count)).perSecond;
  await rate(few);
  const compared = await takeTurns(
    rounds,
    () => rate(few),
    () => rate(many),
  );
  const name = `hooks: rate of ${many.toLocaleString("en")} events, to ${few.toLocaleString("en")}`;
  return ratioFigure(name, "throughput", compared, { least: 0.8 });
}

/** A healthy hook alone, and among a hundred that hang or refuse. */
async function compareDead(bench: HookBench, samples: number): Promise<Figure[]> {
  const closed = await freePort();
  const dead = (n: number): PlannedHook => ({
    type,
    url: n % 2 === 0 ? `${originOf(bench.receiver, n)}/hang` : `${originOf({ port: closed }, n)}/refused`,
  });
  const sharing = (n: number): PlannedHook => ({ type, url: `${originOf(bench.receiver)}/hang?hook=${n}` });
  const hundred = (make: (n: number) => PlannedHook): PlannedHook[] =>
    Array.from({ length: 100 }, (_, n) => make(n + 1));
  const delays = async (hooks: readonly PlannedHook[], backlog: number): Promise<number[]> => {
    await setHooks(bench, [healthy(bench, 0), ...hooks]);
    await timeToArrive(bench, () => insertEvents(bench, type, Math.max(1, backlog)), Math.max(1, backlog));
    const taken: number[] = [];
    for (let n = 0; n < samples; n += 1)
      taken.push(await timeToArrive(bench, () => insertEvents(bench, type, 1)));
    return taken;
  };
  const cases: [name: string, hooks: readonly PlannedHook[], backlog: number, goal: Goal][] = [
    ["100 dead hooks", hundred(dead), 0, { most: 2 }],
    ["100 dead hooks with 100 events each", hundred(dead), 100, { most: 2 }],
    ["100 hooks that hang, at its own host", hundred(sharing), 100, { most: 2 }],
  ];
  const figures: Figure[] = [];
  for (const [name, hooks, backlog, goal] of cases) {
    // Alone before and after, so that a slow moment of the machine is seen.
    const before = await delays([], 0);
    const beside = spread(await delays(hooks, backlog));
    const alone = spread([...before, ...(await delays([], 0))]);
    const measured =
      `${(beside.median / alone.median).toFixed(2)}: median ${beside.median.toFixed(0)} ms against ${alone.median.toFixed(0)} ms, ` +
      `p95 ${beside.p95.toFixed(0)} ms against ${alone.p95.toFixed(0)} ms`;
    figures.push(
      figure(`hooks: delay of one beside ${name}`, beside.median / alone.median, measured, "", goal),
    );
  }
  await setHooks(bench, []);
  return figures;
}
