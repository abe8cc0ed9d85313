import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below what Linux and macOS hand out to those who connect or ask for any port, and without ports that fetch refuses. */
const range = [20_000, 32_000] as const;

/**
 * A TCP port of the loopback interface that nobody listens on. Between now and then, and each time a server is started
 * again, no connection takes it: such a one would be the system's choice.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...range);
    const probe = createServer();
    const listens = await once(probe.listen(port, "127.0.0.1"), "listening").then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EADDRINUSE") return false;
        throw error;
      },
    );
    if (!listens) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}
