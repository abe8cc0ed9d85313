import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { ProblemError } from "../errors/problem.ts";

/** How often open requests are checked: they end within a second of the access that they depend on. */
const tickMs = 500;

interface Watched {
  readonly response: ServerResponse;
  readonly isStillValid: () => Promise<boolean>;
  readonly everyTicks: number;
  isChecking: boolean;
}

/** Every open request of this process that can outlive the access it depends on. */
const watched = new Set<Watched>();
/** Ticks so far. */
let ticks = 0;
let timer: NodeJS.Timeout | null = null;

/**
 * Cuts the connection of a request, also while its body arrives, when its access has ended. All checks of a process run at
 * the same moment, so that checks which use `coalesce` share a statement.
 * @param isStillValid returns false or throws a ProblemError when access has ended.
 * @param everyMs for checks that can't be shared.
 */
export function watch(
  response: ServerResponse,
  isStillValid: () => Promise<boolean>,
  everyMs = tickMs,
): void {
  // A destroyed response emits no more close event, which ends the checks.
  if (response.destroyed) return;
  const everyTicks = Math.ceil(everyMs / tickMs);
  const one: Watched = { response, isStillValid, everyTicks, isChecking: false };
  watched.add(one);
  response.once("close", () => watched.delete(one));
  timer ??= setInterval(tick, tickMs).unref();
}

function tick(): void {
  if (watched.size === 0 && timer !== null) {
    clearInterval(timer);
    timer = null;
  }
  ticks += 1;
  for (const one of watched) if (ticks % one.everyTicks === 0 && !one.isChecking) void check(one);
}

async function check(one: Watched): Promise<void> {
  one.isChecking = true;
  // Other errors, such as an unreachable database, don't revoke anything; the next check decides.
  const isActive = await one.isStillValid().catch((error: unknown) => !(error instanceof ProblemError));
  one.isChecking = false;
  if (!isActive) cut(one.response);
}

/** Also discards what the system has buffered, which a slow client would receive for a long time. */
function cut(response: ServerResponse): void {
  const { socket } = response;
  if (socket instanceof Socket) socket.resetAndDestroy();
  response.destroy();
}
