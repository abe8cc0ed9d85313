import type { ServerResponse } from "node:http";
import { ProblemError } from "../errors/problem.ts";

/** How often to check, while a file is being sent, that its link is still valid. */
const recheckMs = 5000;

/** Cuts a response when its link is no longer valid. @param isStillValid returns false or throws a ProblemError then. */
export function watch(response: ServerResponse, isStillValid: () => Promise<boolean>): void {
  // A destroyed response emits no more close event, which ends the timer.
  if (response.destroyed) return;
  let isChecking = false;
  const timer = setInterval(async () => {
    if (isChecking) return;
    isChecking = true;
    // Other errors, such as an unreachable database, don't revoke anything; the next check decides.
    const isActive = await isStillValid().catch((error: unknown) => !isRefusal(error));
    isChecking = false;
    if (!isActive) response.destroy();
  }, recheckMs);
  timer.unref();
  response.once("close", () => clearInterval(timer));
}

/** Whether an error means that the link is no longer valid. */
function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError;
}
