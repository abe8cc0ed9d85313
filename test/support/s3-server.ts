import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { freePort } from "./port.ts";
import { skipWithout } from "./programs.ts";
import { until } from "./until.ts";

/** Names the file in which the test run says where its server is, once it has started. */
export const s3FileVariable = "TEST_S3_FILE";
/** Set where the tests of S3 have to run: without a server they fail. */
const requiredVariable = "TEST_S3_REQUIRED";

/** How a running server is reached. */
interface S3Access {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Server extends S3Access {
  /** Creates a new bucket. @returns its name. */
  bucket(): Promise<string>;
  /** Ends it and removes all of it; nothing happens to the one of the test run. */
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

/** The reason to skip tests that need an S3 server, for a test's `skip` option; false where they run. */
export const noS3Server: string | false =
  process.env[requiredVariable] === undefined && skipWithout(...programs);

/**
 * Joins the S3 server of the test run, or starts one: Ceph's radosgw, everything in memory, some 15 s. It ends with
 * `stop`, at the latest with this process.
 * @returns null if its programs are not installed; npm's S3 mocks get conditional writes wrong.
 * @throws Error with the programs' output if it does not start.
 */
export async function startS3Server(): Promise<S3Server | null> {
  const shared = process.env[s3FileVariable];
  if (shared !== undefined) return withBuckets(await readShared(shared), async () => {});
  if (noS3Server !== false) return null;
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
    await until("the S3 server has stopped", () => !pids.some(isRunning));
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

async function readShared(file: string): Promise<S3Access> {
  // Written at once, but perhaps read in between.
  const text = await until(
    "the S3 server of the test run has started",
    () => {
      const found = existsSync(file) ? readFileSync(file, "utf8") : "";
      return found.endsWith("}") && found;
    },
    startMs,
  );
  const { access, error } = JSON.parse(text) as { access?: S3Access; error?: string };
  if (access === undefined) throw new Error(error);
  return access;
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
  // A process group, so that the script's children can be killed with it.
  const child = spawn("bash", [script, ...args], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4000);
    });
  const timer = setTimeout(() => endProcess(-(child.pid as number)), startMs);
  // Not "close": the daemons inherit the pipes and keep them open.
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", resolve);
  });
  clearTimeout(timer);
  child.stdout.destroy();
  child.stderr.destroy();
  if (code !== 0) throw new Error(`the S3 server for the tests did not start:\n${said}`);
}

function daemonsOf(folder: string): number[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".pid"))
    .map((name) => Number(readFileSync(join(folder, name), "utf8")))
    .filter((pid) => pid > 0);
}

/** Kills a process, or a process group if negative; its data is not needed. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already exited.
  }
}

function isRunning(pid: number): boolean {
  try {
    // A zombie counts as exited.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
