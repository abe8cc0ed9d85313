import { median, takeTurns } from "../load.ts";
import { type Figure, type Goal, ratioFigure } from "../report.ts";
import { freePort } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import { sendEvents, spread, timeToArrive } from "./hooks-rate.ts";
import { type HookBench, insertEvents, originOf, type PlannedHook, setHooks } from "./hooks-setup.ts";

const type = "recording_updated";

/** Whether cost grows no faster than what there is to do. */
export async function measureHookGrowth(bench: HookBench, { hooks, rounds }: Sizes): Promise<Figure[]> {
  return [
    await compareHookCounts(bench, hooks.fewHooks, hooks.manyHooks, rounds),
    await compareEventCounts(bench, hooks.fewEvents, hooks.manyEvents, Math.ceil(rounds / 3)),
    ...(await compareDead(bench, hooks)),
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
  return ratioFigure(`hooks: one event to ${many} hooks, each, to ${few}`, " ms", compared, {
    max: 1.3,
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
  return ratioFigure(name, "/s", compared, { min: 0.8 });
}

/** A healthy hook alone, and among many that hang or refuse. */
async function compareDead(bench: HookBench, { deadHooks, deadSamples }: Sizes["hooks"]): Promise<Figure[]> {
  const closed = await freePort();
  const dead = (n: number): PlannedHook => ({
    type,
    url: n % 2 === 0 ? `${originOf(bench.receiver, n)}/hang` : `${originOf({ port: closed }, n)}/refused`,
  });
  const sharing = (n: number): PlannedHook => ({ type, url: `${originOf(bench.receiver)}/hang?hook=${n}` });
  const many = (make: (n: number) => PlannedHook): PlannedHook[] =>
    Array.from({ length: deadHooks }, (_, n) => make(n + 1));
  const delays = async (hooks: readonly PlannedHook[], backlog: number): Promise<number[]> => {
    await setHooks(bench, [healthy(bench, 0), ...hooks]);
    await timeToArrive(bench, () => insertEvents(bench, type, Math.max(1, backlog)), Math.max(1, backlog));
    const taken: number[] = [];
    for (let n = 0; n < deadSamples; n += 1)
      taken.push(await timeToArrive(bench, () => insertEvents(bench, type, 1)));
    return taken;
  };
  const cases: [name: string, hooks: readonly PlannedHook[], backlog: number, goal: Goal][] = [
    [`${deadHooks} dead hooks`, many(dead), 0, { max: 2 }],
    [`${deadHooks} dead hooks with ${deadHooks} events each`, many(dead), deadHooks, { max: 2 }],
    [`${deadHooks} hooks that hang, at its own host`, many(sharing), deadHooks, { max: 2 }],
  ];
  const figures: Figure[] = [];
  for (const [name, hooks, backlog, goal] of cases) {
    // Alone before and after, so that a slow moment of the machine is seen.
    const before = await delays([], 0);
    const beside = spread(await delays(hooks, backlog));
    const alone = spread([...before, ...(await delays([], 0))]);
    for (const [what, target] of [
      ["median", goal],
      ["p95", {}],
    ] as const) {
      const [subject, baseline] = [beside[what], alone[what]];
      const ratio = subject / baseline;
      const compared = { subject, baseline, ratio, min: ratio, max: ratio };
      figures.push(ratioFigure(`hooks: delay of one beside ${name}, ${what}`, " ms", compared, target));
    }
  }
  await setHooks(bench, []);
  return figures;
}
