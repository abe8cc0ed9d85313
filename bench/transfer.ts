import { execFile } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { open } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TransferTask } from "./transfer-process.ts";

const run = promisify(execFile);

/**
 * Sends a file by PUT, in a process of its own, so that the bench's own work does not slow it down.
 * @returns seconds until the response ended.
 * @throws Error for any response but a 2xx.
 */
export function putFile(
  path: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  return runTransfer({ method: "PUT", url, headers, path });
}

/** Fetches a file like `putFile` sends one, and discards its bytes. @returns seconds until the last byte. */
export function getFile(url: string): Promise<number> {
  return runTransfer({ method: "GET", url, headers: {}, path: null });
}

async function runTransfer(task: TransferTask): Promise<number> {
  const program = fileURLToPath(new URL("./transfer-process.ts", import.meta.url));
  return Number((await run(process.execPath, [program, JSON.stringify(task)])).stdout);
}

/** Writes a file that nothing can make smaller. */
export async function writeRandomFile(path: string, bytes: number): Promise<void> {
  const file = await open(path, "wx");
  try {
    const block = Buffer.alloc(8 * 2 ** 20);
    for (let left = bytes; left > 0; left -= block.length)
      await file.write(randomFillSync(block), 0, Math.min(block.length, left));
  } finally {
    await file.close();
  }
}

/** Lets the disk take what was written, so that nobody is measured while it takes what another has left behind. */
export async function settleDisk(): Promise<void> {
  // Where there is no such program the figures are noisier, and no less right.
  await run("sync", []).catch(() => {});
}
