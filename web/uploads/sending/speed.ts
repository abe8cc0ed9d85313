/** The window over which speed is measured. */
const windowMs = 8000;

/** Measures the speed of a counter. @returns a function that takes the count and returns units per second. */
export function createSpeedometer(
  now: () => number = () => performance.now(),
): (count: number) => number | null {
  let samples: { readonly at: number; readonly count: number }[] = [];
  return (count) => {
    const at = now();
    samples = [...samples.filter((sample) => at - sample.at <= windowMs), { at, count }];
    const first = samples[0];
    if (first === undefined || at - first.at < 500) return null;
    return Math.max(0, ((count - first.count) * 1000) / (at - first.at));
  };
}
