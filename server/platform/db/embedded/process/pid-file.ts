import { join } from "node:path";
import { readIfExists } from "../files.ts";

/** postmaster.pid, as PostgreSQL writes it (miscadmin.h, "LOCK_FILE_LINE_…"); lines come one after the other. */
export interface PidFile {
  readonly pid: number;
  /** The lines that one postmaster never changes: to know it again. */
  readonly identity: string;
  /** The data folder of the postmaster that wrote it: another one's if the folder was copied while it ran. */
  readonly dataDir: string;
  readonly socketDir: string | undefined;
  /** "starting", "stopping", "ready" or "standby". */
  readonly status: string | undefined;
}

export function pidFilePath(clusterDir: string): string {
  return join(clusterDir, "postmaster.pid");
}

export async function readPidFile(clusterDir: string): Promise<PidFile | undefined> {
  const text = await readIfExists(pidFilePath(clusterDir));
  return text === undefined ? undefined : parsePidFile(text);
}

export function parsePidFile(text: string): PidFile | undefined {
  const lines = text.split("\n");
  // A single-user backend writes its number negative.
  const pid = Math.abs(Number.parseInt(lines[0] ?? "", 10));
  if (!pid) return undefined;
  return {
    pid,
    identity: lines.slice(0, 3).join("\n"),
    dataDir: lines[1] ?? "",
    socketDir: lines[4] || undefined,
    status: lines[7]?.trim() || undefined,
  };
}
