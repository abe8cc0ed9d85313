import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { startWatchdog } from "../../../platform/confinement/watchdog.ts";
import type { EngineMessage, EngineRequest, EngineTask } from "./engine.ts";

/** Works on one request. @param onProgress sends progress to the server. */
type Work<Payload, Progress, Result> = (
  payload: Payload,
  onProgress: (progress: Progress) => void,
) => Promise<Result>;

/**
 * Runs an engine's program, started by `startEngine`: opens the model once, and then works on the requests on its standard
 * input until it is killed or the input ends.
 */
export async function runProgram<Task, Payload, Progress, Result>(
  open: (task: Task) => Promise<Work<Payload, Progress, Result>>,
): Promise<void> {
  const send = (message: EngineMessage<Progress, Result>): void => {
    writeSync(3, `${JSON.stringify(message)}\n`);
  };
  const { task, watch } = JSON.parse(process.argv[2] ?? "") as EngineTask<Task>;
  startWatchdog(watch);
  try {
    const work = await open(task);
    send({ type: "ready" });
    for await (const line of createInterface({ input: process.stdin })) {
      const { id, payload } = JSON.parse(line) as EngineRequest<Payload>;
      const result = await work(payload, (progress) => send({ type: "progress", id, progress }));
      send({ type: "result", id, result });
    }
  } catch (error) {
    send({ type: "unusable", message: (error as Error).message });
  }
}
