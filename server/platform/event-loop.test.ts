import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { watchEventLoop } from "./event-loop.ts";

const lines: { blockedMs: number; cpuMs: number; inFlight: string[] }[] = [];
const watch = watchEventLoop({ warn: (fields: object) => void lines.push(fields as (typeof lines)[number]) });
after(() => watch.stop());

/** Keeps the process busy for this time, and longer where other processes have the processor. */
function block(ms: number): void {
  const end = performance.now() + ms;
  const before = process.cpuUsage();
  while (performance.now() < end || process.cpuUsage(before).user < 200_000);
}

test("a block of more than a second is logged with what was in flight, also what ended in it", async () => {
  const endFirst = watch.begin("getTranscript");
  watch.begin("job transcribe_recording");
  await delay(300);
  lines.length = 0;
  block(1600);
  endFirst();
  endFirst();
  await delay(300);
  assert.ok(lines[0] !== undefined && lines[0].blockedMs > 1000 && lines[0].blockedMs < 10_000);
  assert.deepEqual(lines[0].inFlight, ["getTranscript", "job transcribe_recording"]);
  assert.ok(lines[0].cpuMs > 100);
  await delay(300);
  lines.length = 0;
  block(1600);
  await delay(300);
  assert.deepEqual(lines[0]?.inFlight, ["job transcribe_recording"], "what ended before is not named");
});
