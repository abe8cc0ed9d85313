import { execFile } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { open } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TransferTask } from "./transfer-process.ts";

const run = promisify(execFile);

/** Sends and fetches whole files, each in a process of its own. Anything but a 2xx ends the bench. */
export interface Client {
  readonly name: string;
  /** @returns seconds until the whole was sent and answered. */
  put(path: string, url: string, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Throws the bytes away. @returns seconds until the last of them was here. */
  get(url: string): Promise<number>;
}

/** curl where it is installed, as it takes least of the machine; else a client of our own. */
export async function openClient(): Promise<Client> {
  const hasCurl = await run("curl", ["--version"]).then(
    () => true,
    () => false,
  );
  return hasCurl ? curl : own;
}

async function byCurl(args: readonly string[]): Promise<number> {
  const written = [
    "--silent",
    "--show-error",
    "--output",
    "/dev/null",
    "--write-out",
    "%{http_code} %{time_total}",
  ];
  const { stdout } = await run("curl", [...written, ...args]);
  const [status = "", seconds = ""] = stdout.split(" ");
  if (!status.startsWith("2")) throw new Error(`${args.at(-1)} answered ${status}`);
  return Number(seconds);
}

const curl: Client = {
  name: "curl",
  put: (path, url, headers = {}) =>
    byCurl([
      "--upload-file",
      path,
      ...Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
      url,
    ]),
  get: (url) => byCurl([url]),
};

async function byOwn(task: TransferTask): Promise<number> {
  const program = fileURLToPath(new URL("./transfer-process.ts", import.meta.url));
  return Number((await run(process.execPath, [program, JSON.stringify(task)])).stdout);
}

const own: Client = {
  name: "node",
  put: (path, url, headers = {}) => byOwn({ method: "PUT", url, headers, path }),
  get: (url) => byOwn({ method: "GET", url, headers: {}, path: null }),
};

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
