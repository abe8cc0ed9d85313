import { appendFileSync, copyFileSync, statSync, truncateSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Copies an MP4 or QuickTime fixture to `path` and makes it larger by a `free` box, which players skip. */
export function writePaddedMedia(path: string, fixture: string, bytes: number): void {
  copyFileSync(fileURLToPath(new URL(`../fixtures/media/${fixture}`, import.meta.url)), path);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(bytes - statSync(path).size, 0);
  header.write("free", 4, "latin1");
  appendFileSync(path, header);
  truncateSync(path, bytes);
}
