import { type Figure, type Goal, ratioFigure } from "../report.ts";
import { freePort } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import { spread, timeToArrive } from "./hooks-rate.ts";
import { type HookBench, insertEvents, originOf, type PlannedHook, setHooks } from "./hooks-setup.ts";

const type = "recording_updated";

/** A healthy hook alone, and among many that hang or refuse. */
export async function measureBesideDead(
  bench: HookBench,
  { deadHooks, deadSamples }: Sizes["hooks"],
): Promise<Figure[]> {
  const closed = await freePort();
  const healthy: PlannedHook = {
    type,
    url: `${originOf(bench.receiver)}/ok`,
    include: { participants: true },
  };
  const dead = (n: number): PlannedHook => ({
    type,
    url: n % 2 === 0 ? `${originOf(bench.receiver, n)}/hang` : `${originOf({ port: closed }, n)}/refused`,
  });
  const sharing = (n: number): PlannedHook => ({ type, url: `${originOf(bench.receiver)}/hang?hook=${n}` });
  const many = (make: (n: number) => PlannedHook): PlannedHook[] =>
    Array.from({ length: deadHooks }, (_, n) => make(n + 1));
  const delays = async (hooks: readonly PlannedHook[], backlog: number): Promise<number[]> => {
    await setHooks(bench, [healthy, ...hooks]);
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
