import { once } from "node:events";
import { createServer } from "node:net";
import { type Config, ConfigError } from "./platform/config/config.ts";
import { checkEmbeddedPostgres } from "./platform/db/embedded/index.ts";

/**
 * Checks what would stop the start later, before anything is created: whether the port is free, and whether the embedded
 * PostgreSQL can run on this system.
 * @throws ConfigError in one line; the system's error when the port can't be used.
 */
export async function preflight(config: Config): Promise<void> {
  if (config.role !== "worker") await checkPort(config);
  if (config.databaseUrl !== null) return;
  try {
    await checkEmbeddedPostgres(config.dataDir);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

async function checkPort({ host, port }: Config): Promise<void> {
  const server = createServer();
  server.listen({ host, port });
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
