import { setImmediate as otherWork } from "node:timers/promises";

/** Runs the steps of some work, with other requests in between. @param sliceMs how long they may wait. */
export async function runInSlices<Result>(steps: Generator<null, Result>, sliceMs: number): Promise<Result> {
  let began = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - began < sliceMs) continue;
    await otherWork();
    began = performance.now();
  }
}
