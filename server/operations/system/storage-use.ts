import { statfs } from "node:fs/promises";
import type { z } from "zod";
import type { getStorageUse } from "../../../contract/system.ts";
import type { Database } from "../../platform/db/database.ts";
import { storageBytesSql } from "../metrics/database-gauges.ts";

type StorageUse = z.input<(typeof getStorageUse)["response"]>;
type WorkspaceUse = StorageUse["workspaces"][number];

/** How long a measurement is reused: it reads a whole table. */
const cachedMs = 60_000;

/** @returns a function that measures the stored bytes; concurrent calls share one measurement. */
export function createStorageUse(db: Pick<Database, "pool">, dataDir: string): () => Promise<StorageUse> {
  let last: { readonly at: number; readonly use: Promise<StorageUse> } | null = null;
  return () => {
    if (last === null || performance.now() - last.at > cachedMs) {
      const use = readStorageUse(db, dataDir);
      const measured = { at: performance.now(), use };
      last = measured;
      use.catch(() => {
        if (last === measured) last = null;
      });
    }
    return last.use;
  };
}

/** Measures the stored bytes by workspace and kind, largest first. */
export async function readStorageUse({ pool }: Pick<Database, "pool">, dataDir: string): Promise<StorageUse> {
  const [{ rows }, database, disk] = await Promise.all([
    pool.query<{ workspace: string; name: string | null; kind: string; value: number }>(
      `select used.*, w.name from (${storageBytesSql}) used left join workspaces w on w.id::text = used.workspace`,
    ),
    pool.query<{ bytes: number }>("select pg_database_size(current_database())::float8 as bytes"),
    readDisk(dataDir),
  ]);
  const workspaces = new Map<string, WorkspaceUse>();
  for (const { workspace, name, kind, value } of rows.sort((a, b) => b.value - a.value)) {
    const isOther = workspace === "other";
    const use = workspaces.get(workspace) ?? { id: isOther ? null : workspace, name, bytes: 0, kinds: [] };
    use.bytes += value;
    use.kinds.push({ kind, bytes: value });
    workspaces.set(workspace, use);
  }
  return {
    workspaces: [...workspaces.values()].sort((a, b) => b.bytes - a.bytes),
    database_bytes: database.rows[0]?.bytes ?? 0,
    disk,
    measured_datetime: new Date().toISOString(),
  };
}

/** Free and total bytes of the volume of a folder; null if it can't be read. */
export async function readDisk(folder: string): Promise<{ free_bytes: number; size_bytes: number } | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { free_bytes: bavail * bsize, size_bytes: blocks * bsize };
  } catch {
    // Reported as unknown: the folder may not exist yet.
    return null;
  }
}
