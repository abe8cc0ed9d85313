/**
 * Runs work and returns the longest time in milliseconds for which it blocked the event loop. Measured in processor time,
 * because wall-clock time says little on a busy machine.
 */
export async function maxBlockingMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isDone = false;
  let before = process.cpuUsage();
  const watch = (): void => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.cpuUsage();
    if (!isDone) setImmediate(watch);
  };
  setImmediate(watch);
  await new Promise((next) => setImmediate(next));
  await work();
  await new Promise((next) => setImmediate(next));
  isDone = true;
  return longest;
}
