import { once } from "node:events";
import { createServer } from "node:net";
import { checkWatchedFolder, WatchError } from "./connections/watched-folders/check.ts";
import { type Config, ConfigError } from "./platform/config/config.ts";
import { checkEmbeddedPostgres } from "./platform/db/embedded/index.ts";

/**
 * Checks what would stop the start later, before anything is created: whether the port is free, whether watched folders
 * can be read, and whether the embedded PostgreSQL can run on this system.
 * @throws ConfigError in one line; the system's error when the port can't be used.
 */
export async function preflight(config: Config): Promise<void> {
  if (config.role !== "worker") await checkPort(config);
  if (config.role !== "api") await checkWatchedFolders(config);
  if (config.databaseUrl !== null) return;
  try {
    await checkEmbeddedPostgres(config.dataDir);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

async function checkWatchedFolders(config: Config): Promise<void> {
  for (const dir of config.watchDirs)
    await checkWatchedFolder(dir, config).catch((error: unknown) => {
      if (!(error instanceof WatchError)) throw error;
      throw new ConfigError(`invalid setting: PARLEY_WATCH_DIRS: ${error.message} ${error.remedy}`);
    });
}

async function checkPort({ host, port }: Config): Promise<void> {
  const server = createServer();
  server.listen({ host, port });
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
