import { median } from "../load.ts";
import { type Figure, figure } from "../report.ts";
import { type HookBench, insertEvents, nowMs, originOf, setHooks } from "./hooks-setup.ts";

interface Stream {
  readonly type: "recording_updated" | "upload_updated";
  readonly scope: "personal" | "workspace";
  readonly include?: { readonly participants: boolean };
  readonly count: number;
}

/** How many events that are all there at once arrive each second at one healthy receiver. */
export async function measureRate(bench: HookBench, stream: Stream, rounds: number): Promise<Figure> {
  await setHooks(bench, [{ ...stream, url: `${originOf(bench.receiver)}/ok` }]);
  await sendEvents(bench, stream.type, Math.ceil(stream.count / 5));
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1)
    rates.push((await sendEvents(bench, stream.type, stream.count)).perSecond);
  const at = median(rates);
  const what = `${stream.type}${stream.include ? " with participants" : ""}, ${stream.scope}`;
  return figure(
    `hooks: ${stream.count.toLocaleString("en")} of ${what}, a second`,
    at,
    `${at.toFixed(0)}/s (${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)})`,
    "/s",
    { min: 1500 },
  );
}

/** @returns how many arrived each second, from the first to the last. */
export async function sendEvents(
  bench: HookBench,
  type: Stream["type"],
  count: number,
): Promise<{ perSecond: number }> {
  const arrived = await bench.receiver.expect(count);
  await insertEvents(bench, type, count);
  const { firstMs, lastMs, distinct } = await arrived();
  if (distinct !== count) throw new Error(`of ${count} events ${distinct} arrived, some of them twice`);
  return { perSecond: ((count - 1) * 1000) / (lastMs - firstMs) };
}

/**
 * How soon the first attempt arrives on an idle system after a change by another process. The time before
 * the change begins is what is known of it, so its own duration is in these figures.
 */
export async function measureDelay(bench: HookBench, count: number): Promise<Figure[]> {
  await setHooks(bench, [
    { type: "recording_updated", url: `${originOf(bench.receiver)}/ok`, include: { participants: true } },
  ]);
  const { rows } = await bench.data.db.pool.query<{ id: string }>(
    "select id from recordings where workspace_id = $1 order by id limit $2",
    [bench.data.made.workspaceId, count],
  );
  const causes = [
    ["insert into events", 15, () => insertEvents(bench, "recording_updated", 1)],
    ["PATCH of a title, with the request", 25, (n: number) => changeTitle(bench, rows[n]?.id ?? "", n)],
  ] as const;
  const figures: Figure[] = [];
  for (const [name, max, cause] of causes) {
    const delays: number[] = [];
    for (let n = 0; n < count; n += 1) delays.push(await timeToArrive(bench, () => cause(n)));
    const at = spread(delays);
    figures.push(
      figure(`hooks: ${name} to first attempt, median`, at.median, describe(at, count), " ms", { max }),
      figure(`hooks: ${name} to first attempt, p95`, at.p95, describe(at, count), " ms", { max: 100 }),
    );
  }
  return figures;
}

/** @param cause makes one event and gives when it began to. @param expected how many are to hear of it. */
export async function timeToArrive(
  { receiver }: HookBench,
  cause: () => Promise<number>,
  expected = 1,
): Promise<number> {
  const arrived = await receiver.expect(expected);
  const startedAt = await cause();
  const { lastMs } = await arrived();
  // Not in step with the sender's look for events.
  await new Promise((resolve) => setTimeout(resolve, 60 + Math.random() * 100));
  return lastMs - startedAt;
}

/** As a client does, at a server that sends no hooks itself. */
async function changeTitle({ api, data }: HookBench, recordingId: string, n: number): Promise<number> {
  const startedAt = nowMs();
  const response = await fetch(`${api.url}/_/public-api/v2/recordings/${recordingId}`, {
    method: "PATCH",
    headers: {
      authorization: `Bearer ${data.made.workspaceToken}`,
      "public-api-version": "2026-10-01",
      "content-type": "application/json",
    },
    body: JSON.stringify({ title: `Weekly meeting ${n}, ${Date.now()}` }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`changing a title returned ${response.status}: ${text}`);
  return startedAt;
}

export interface Spread {
  readonly median: number;
  readonly p95: number;
  readonly greatest: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { median: median(values), p95: at(0.95), greatest: at(1) };
}

const describe = (at: Spread, count: number): string =>
  `median ${at.median.toFixed(0)} ms, p95 ${at.p95.toFixed(0)} ms, greatest ${at.greatest.toFixed(0)} ms of ${count}`;
