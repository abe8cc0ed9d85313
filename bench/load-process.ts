import { Agent, type IncomingMessage, request } from "node:http";
import type { LoadResult, LoadTask } from "./load.ts";

/** Sends requests as fast as responses arrive, in its own process; reads responses completely without parsing them. */
process.on("message", (task: LoadTask) => {
  run(task).then(
    (result) => process.send?.({ result }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});

async function run(task: LoadTask): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: task.concurrency });
  const countFrom = performance.now() + task.warmUpMs;
  const end = countFrom + task.durationMs;
  const latencies: number[] = [];
  let bytes = 0;
  let lastAnswer = countFrom;
  const client = async (): Promise<void> => {
    // At least one is counted, however slow.
    for (let now = performance.now(); now < end || latencies.length === 0; ) {
      const received = await send(task, agent);
      const done = performance.now();
      if (now >= countFrom) {
        latencies.push(done - now);
        bytes += received;
        lastAnswer = Math.max(lastAnswer, done);
      }
      now = done;
    }
  };
  await Promise.all(Array.from({ length: task.concurrency }, client));
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN;
  return {
    requests: latencies.length,
    perSecond: (latencies.length * 1000) / (lastAnswer - countFrom),
    medianMs: at(0.5),
    p99Ms: at(0.99),
    bytesEach: bytes / latencies.length,
  };
}

/** @returns the length of the response body in bytes. Any status but 200 ends the bench. */
function send(task: LoadTask, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      task.url,
      { method: task.method, headers: task.headers, agent },
      (response: IncomingMessage) => {
        const isRight = response.statusCode === 200;
        const kept: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (!isRight) kept.push(chunk);
        });
        response.on("error", reject);
        response.on("end", () => {
          if (isRight) resolve(bytes);
          else reject(new Error(`${task.url} returned ${response.statusCode}: ${Buffer.concat(kept)}`));
        });
      },
    );
    sent.on("error", reject);
    sent.end(task.body);
  });
}
