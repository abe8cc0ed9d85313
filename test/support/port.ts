import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral ports of Linux and macOS, and without ports that fetch blocks. */
const range = [20_000, 32_000] as const;

/**
 * A free TCP port of the loopback interface. It is outside the ephemeral range, so that no other connection takes it before
 * a server listens, or between restarts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...range);
    if (await isFree(port)) return port;
  }
}

/** Whether a server can listen on this port of the loopback interface. */
export async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  const listens = await once(probe.listen(port, "127.0.0.1"), "listening").then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") return false;
      throw error;
    },
  );
  if (!listens) return false;
  probe.close();
  await once(probe, "close");
  return true;
}
