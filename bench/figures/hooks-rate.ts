import type { BarePosts, SentMessage } from "../hook-receiver.ts";
import { median, takeTurns } from "../load.ts";
import { type Figure, figure, type Goal, ratioFigure } from "../report.ts";
import { type HookBench, insertEvents, nowMs, originOf, setHooks } from "./hooks-setup.ts";

/** How many requests the sender has on their way to one receiver. */
const concurrency = 16;

interface Stream {
  readonly type: "recording_updated" | "upload_updated";
  readonly scope: "personal" | "workspace";
  readonly include?: { readonly participants: boolean };
  readonly count: number;
  /** For undici's `request`. */
  readonly goal: Goal;
}

/**
 * Events that are all there at once, to one healthy receiver, against loops that post the same bytes. The target is for
 * undici's `request`, which costs a fifth of its `fetch`.
 */
export async function measureRate(bench: HookBench, stream: Stream, rounds: number): Promise<Figure[]> {
  const url = `${originOf(bench.receiver)}/ok`;
  await setHooks(bench, [{ ...stream, url }]);
  const { samples } = await sendEvents(bench, stream.type, Math.ceil(stream.count / 5));
  const bytes = Math.round(median(samples.map(({ body }) => Buffer.byteLength(body))));
  const figures: Figure[] = [];
  for (const [client, goal] of [
    ["request", stream.goal],
    ["fetch", {}],
  ] as const) {
    await postBare(bench, client, samples, Math.ceil(stream.count / 5));
    const compared = await takeTurns(
      rounds,
      () => postBare(bench, client, samples, stream.count),
      async () => (await sendEvents(bench, stream.type, stream.count)).perSecond,
    );
    const count = stream.count.toLocaleString("en");
    const what = `${stream.type}${stream.include ? " with participants" : ""}, ${stream.scope}`;
    const name = `hooks: ${count} of ${what}, ${bytes} bytes: to a loop of undici's ${client}`;
    figures.push(ratioFigure(name, "/s", compared, goal));
  }
  return figures;
}

/** @returns how many arrived each second, from the first to the last. */
export async function sendEvents(
  bench: HookBench,
  type: Stream["type"],
  count: number,
): Promise<{ perSecond: number; samples: readonly SentMessage[] }> {
  const arrived = await bench.receiver.expect(count);
  await insertEvents(bench, type, count);
  const { firstMs, lastMs, distinct, samples } = await arrived();
  if (distinct !== count) throw new Error(`of ${count} events ${distinct} arrived, some of them twice`);
  return { perSecond: ((count - 1) * 1000) / (lastMs - firstMs), samples };
}

async function postBare(
  { receiver }: HookBench,
  client: BarePosts["client"],
  messages: readonly SentMessage[],
  count: number,
): Promise<number> {
  const arrived = await receiver.expect(count);
  await receiver.postBare({ client, origin: originOf(receiver), path: "/ok", count, concurrency, messages });
  const { firstMs, lastMs } = await arrived();
  return ((count - 1) * 1000) / (lastMs - firstMs);
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
    ["insert into events", () => insertEvents(bench, "recording_updated", 1)],
    ["PATCH of a title, with the request", (n: number) => changeTitle(bench, rows[n]?.id ?? "", n)],
  ] as const;
  const figures: Figure[] = [];
  for (const [name, cause] of causes) {
    const delays: number[] = [];
    for (let n = 0; n < count; n += 1) delays.push(await timeToArrive(bench, () => cause(n)));
    const at = spread(delays);
    figures.push(
      figure(`hooks: ${name} to first attempt, median`, at.median, describe(at, count), " ms", { max: 100 }),
      figure(`hooks: ${name} to first attempt, p95`, at.p95, describe(at, count), " ms", { max: 1000 }),
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
