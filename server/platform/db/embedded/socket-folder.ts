import { join } from "node:path";
import { makeFolder } from "./files.ts";
import { privateFolder } from "./private-folder.ts";
import { PORT } from "./settings.ts";
import type { Location } from "./types.ts";

/** sockaddr_un's sun_path less its closing zero byte. */
const MAX_SOCKET_PATH_BYTES = process.platform === "darwin" ? 103 : 107;

export function socketPath(folder: string): string {
  return join(folder, `.s.PGSQL.${PORT}`);
}

/** The usual place, or undefined when its path is too long for a Unix socket. */
export function socketFolderInside(location: Location): string | undefined {
  const inside = join(location.clusterDir, "socket");
  return Buffer.byteLength(socketPath(inside)) <= MAX_SOCKET_PATH_BYTES ? inside : undefined;
}

/** The folder to start PostgreSQL's socket in, made if need be. */
export async function makeSocketFolder(location: Location): Promise<string> {
  const inside = socketFolderInside(location);
  if (!inside) return privateFolder("db", location.clusterDir, location.user);
  await makeFolder(inside, 0o700, location.user);
  return inside;
}
