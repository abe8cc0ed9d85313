import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Where media files are kept. */
export interface ObjectStore {
  /**
   * Writes, renames and removes a small object.
   * @throws Error when the store does not take it.
   */
  probe(): Promise<void>;
}

/** Keeps objects in a local folder. */
export async function openLocalStore(dataDir: string): Promise<ObjectStore> {
  const folder = join(dataDir, "objects");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    async probe() {
      const path = join(folder, `.probe-${randomUUID()}`);
      try {
        const file = await open(`${path}.part`, "wx", 0o600);
        try {
          await file.writeFile("parley");
        } finally {
          await file.close();
        }
        await rename(`${path}.part`, path);
      } finally {
        await rm(path, { force: true });
        await rm(`${path}.part`, { force: true });
      }
    },
  };
}
