import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { failedWith } from "./local/folders.ts";
import { ObjectMissingError, type ObjectStore } from "./store.ts";

/**
 * Reads a small object at once. A file of this machine is read with calls that block the process, which is several times as
 * fast as a stream: for commands, not for servers.
 * @returns null if it is longer than expected.
 * @throws ObjectMissingError
 */
export async function readSmall(store: ObjectStore, key: string, maxBytes: number): Promise<Buffer | null> {
  const path = store.localPath(key);
  if (path !== null) return readFile(path, key, maxBytes);
  const { info, body } = await store.get(key);
  if (info.size <= maxBytes) return Buffer.concat(await body.toArray());
  body.destroy();
  return null;
}

function readFile(path: string, key: string, maxBytes: number): Buffer | null {
  try {
    const fd = openSync(path, "r");
    try {
      return fstatSync(fd).size > maxBytes ? null : readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (failedWith(error, "ENOENT", "ENOTDIR", "EISDIR"))
      throw new ObjectMissingError(`nothing is at ${key}`);
    throw error;
  }
}
