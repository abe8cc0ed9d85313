import type { ServerResponse } from "node:http";
import { ProblemError } from "../http/problem.ts";

/** How often it is asked, while a file is on its way, whether the link is still good. */
const lookAgainMs = 5000;

/** Cuts a response off when its link is good no more. @param isStillGood may throw, as what opens links does. */
export function watch(response: ServerResponse, isStillGood: () => Promise<boolean>): void {
  // Who has gone by now closes no second time, and would be asked about for ever.
  if (response.destroyed) return;
  let isAsking = false;
  const timer = setInterval(async () => {
    if (isAsking) return;
    isAsking = true;
    // Whoever can't be asked now is asked again; a database that is away has taken nothing back.
    const isGood = await isStillGood().catch((error: unknown) => !isRefusal(error));
    isAsking = false;
    if (!isGood) response.destroy();
  }, lookAgainMs);
  timer.unref();
  response.once("close", () => clearInterval(timer));
}

/** Whether an error says that the link is none by now. */
function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError;
}
