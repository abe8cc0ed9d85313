import { execFile, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BareBytesTask } from "./bare-bytes.ts";

/** What `parley` runs. */
const mainProgram = fileURLToPath(new URL("../cli/main.ts", import.meta.url));

/** The secret of every server of the bench, so that baselines can sign the same links. */
export const benchSecret = "a secret that only the bench's servers have";

/** A running server in a process of its own. */
export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process to the first 200 response of /readyz. */
  readonly readyMs: number;
  /** Memory of the process as the system counts it. Linux only: null elsewhere. */
  residentMb(): number | null;
  /** Watches its memory. @returns what gives by how much it has grown at most since. Linux only: null elsewhere. */
  watchMemory(): () => number | null;
  stop(): Promise<void>;
}

/** What a command took: of the processor, and of memory at most. */
export interface CommandCost {
  readonly cpuSec: number;
  readonly maxMb: number;
}

/** Runs a parley command. */
export async function measureCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandCost> {
  const report = "process.on('exit', () => console.error(JSON.stringify(process.resourceUsage())))";
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ["--import", `data:text/javascript,${report}`, mainProgram, ...args],
    { env: { ...process.env, ...env } },
  );
  const usage = JSON.parse(stderr.trim().split("\n").at(-1) ?? "") as NodeJS.ResourceUsage;
  return { cpuSec: (usage.userCPUTime + usage.systemCPUTime) / 1e6, maxMb: usage.maxRSS / 1024 };
}

/** Starts `parley serve` as an operator would; its log is shown when it doesn't start. */
export async function startParley(env: Readonly<Record<string, string>>): Promise<RunningServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const child = spawn(process.execPath, [mainProgram, "serve"], {
    env: {
      ...process.env,
      PARLEY_PORT: String(port),
      PARLEY_BASE_URL: url,
      PARLEY_RATE_LIMIT_PER_MINUTE: "0",
      ...env,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-2000);
  });
  const exited = once(child, "exit");
  for (;;) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) break;
    if (child.exitCode !== null)
      throw new Error(`parley serve ended with exit code ${child.exitCode}:\n${log}`);
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > 60_000) throw new Error("parley serve was not ready within a minute");
    // Seldom enough that asking does not slow down the start.
    await delay(Math.max(10, waitedMs / 50));
  }
  const memoryMb = (name: "VmRSS" | "VmHWM"): number | null => {
    if (process.platform !== "linux") return null;
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    const line = new RegExp(`${name}:\\s+(\\d+) kB`).exec(status);
    return line ? Number(line[1]) / 1024 : null;
  };
  return {
    url,
    pid: child.pid ?? 0,
    readyMs: performance.now() - startedAt,
    residentMb: () => memoryMb("VmRSS"),
    watchMemory() {
      // proc(5): writing 5 resets the peak memory that the system reports.
      if (process.platform === "linux") writeFileSync(`/proc/${child.pid}/clear_refs`, "5");
      const before = memoryMb("VmRSS");
      return () => {
        const peak = memoryMb("VmHWM");
        return before === null || peak === null ? null : peak - before;
      };
    },
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** The baseline of the transcripts. */
export async function startBareBytes(task: BareBytesTask): Promise<{ url: string; stop(): void }> {
  const child = fork(new URL("./bare-bytes.ts", import.meta.url));
  child.send(task);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return { url: `http://127.0.0.1:${port}`, stop: () => child.disconnect() };
}

/** A TCP port of the loopback interface that nobody listens on. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
