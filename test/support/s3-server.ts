import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { freePort } from "./port.ts";
import { until } from "./until.ts";

/** How a server that is already running is made known to the test files: JSON with endpoint and keys. */
export const s3Variable = "PARLEY_TEST_S3";

/** What PARLEY_TEST_S3 says of a running server. */
export interface S3Access {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Server extends S3Access {
  /** Makes a bucket that nobody else uses. @returns its name. */
  bucket(): Promise<string>;
  /** Ends it and removes all of it; nothing happens to one that PARLEY_TEST_S3 names. */
  stop(): Promise<void>;
}

const programs = [
  "bash",
  "ceph",
  "ceph-authtool",
  "ceph-mon",
  "ceph-osd",
  "monmaptool",
  "radosgw",
  "radosgw-admin",
];
const startMs = 90_000;

/**
 * Starts a real S3 server (Ceph's radosgw, everything in memory, some 15 s), or joins the one that PARLEY_TEST_S3
 * names. It ends with `stop`, at the latest with this process.
 * @returns null where its programs are not installed: the npm packages that play S3 get conditional writes wrong.
 * @throws Error with what the programs said when it does not start.
 */
export async function startS3Server(): Promise<S3Server | null> {
  const running = process.env[s3Variable];
  if (running !== undefined) return withBuckets(JSON.parse(running) as S3Access, async () => {});
  if (!programs.every(isInstalled)) return null;
  const folder = mkdtempSync(join(tmpdir(), "parley-s3-"));
  const killDaemons = (): number[] => {
    const pids = daemonsOf(folder);
    for (const pid of pids) endProcess(pid);
    return pids;
  };
  const lastChance = (): void => {
    killDaemons();
    rmSync(folder, { recursive: true, force: true });
  };
  process.on("exit", lastChance);
  const stop = async (): Promise<void> => {
    const pids = killDaemons();
    await until("the S3 server has ended", () => !pids.some(isRunning));
    process.off("exit", lastChance);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const found = new Set<number>();
    while (found.size < 3) found.add(await freePort());
    const ports = [...found];
    const access = {
      endpoint: `http://127.0.0.1:${ports[0]}`,
      accessKeyId: randomBytes(10).toString("hex"),
      secretAccessKey: randomBytes(20).toString("hex"),
    };
    await runScript([folder, ...ports.map(String), access.accessKeyId, access.secretAccessKey]);
    return withBuckets(access, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

function withBuckets(access: S3Access, stop: () => Promise<void>): S3Server {
  return {
    ...access,
    stop,
    async bucket() {
      const { endpoint, ...credentials } = access;
      const client = new S3Client({ endpoint, credentials, region: "us-east-1", forcePathStyle: true });
      const name = `test-${randomBytes(6).toString("hex")}`;
      try {
        await client.send(new CreateBucketCommand({ Bucket: name }));
      } finally {
        client.destroy();
      }
      return name;
    },
  };
}

async function runScript(args: string[]): Promise<void> {
  const script = fileURLToPath(new URL("s3-test-server.sh", import.meta.url));
  // A group of its own, so that whatever the script is waiting for can be ended with it.
  const child = spawn("bash", [script, ...args], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4000);
    });
  const timer = setTimeout(() => endProcess(-(child.pid as number)), startMs);
  // Not "close": the daemons inherit the pipes and hold them open.
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", resolve);
  });
  clearTimeout(timer);
  child.stdout.destroy();
  child.stderr.destroy();
  if (code !== 0) throw new Error(`the S3 server for the tests did not start:\n${said}`);
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      // Not in this folder.
      return false;
    }
  });
}

function daemonsOf(folder: string): number[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".pid"))
    .map((name) => Number(readFileSync(join(folder, name), "utf8")))
    .filter((pid) => pid > 0);
}

/** Ends a process, or a group when negative, at once: nothing it keeps is wanted. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function isRunning(pid: number): boolean {
  try {
    // Killed but not yet reaped by its parent counts as ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
