/**
 * A process that starts the embedded PostgreSQL, for embedded.test.ts: the tests are about processes that die,
 * meet and wait for each other, so each of them is a real one. Speaks over the IPC channel.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../index.ts";
import type { Connection, Tuning } from "../types.ts";

export interface Order {
  readonly dataDir: string;
  readonly purpose: "server" | "tool";
  readonly tuning: Tuning;
}

export type Report =
  | { readonly kind: "ready"; readonly connection: Connection; readonly postmaster: number }
  | { readonly kind: "failed"; readonly name: string; readonly message: string }
  | { readonly kind: "lost"; readonly name: string; readonly message: string }
  | { readonly kind: "log"; readonly level: string; readonly message: string; readonly detail: unknown };

const order = JSON.parse(process.argv[2] ?? "") as Order;
const report = (message: Report) => process.send?.(message);
const failure = (error: unknown) =>
  error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: "", message: String(error) };

try {
  const database = await startEmbeddedPostgres(
    {
      dataDir: order.dataDir,
      purpose: order.purpose,
      log: (level, message, detail) => report({ kind: "log", level, message, detail }),
      onLost: (error) => report({ kind: "lost", ...failure(error) }),
    },
    order.tuning,
  );
  process.once("message", async () => {
    await database.stop();
    // From here on nothing may keep this process alive.
    process.disconnect?.();
  });
  report({ kind: "ready", connection: database.connection, postmaster: postmasterOf(database.connection) });
} catch (error) {
  report({ kind: "failed", ...failure(error) });
  process.exitCode = 1;
}

/** Read from the lock file beside the socket, wherever the cluster is. */
function postmasterOf(connection: Connection): number {
  return Number.parseInt(readFileSync(join(connection.host, ".s.PGSQL.5432.lock"), "utf8"), 10);
}
