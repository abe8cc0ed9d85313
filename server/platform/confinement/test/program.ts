import { readFileSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";

/** What confinement.test.ts runs confined: tries what it must not be able to do, and writes down how that went. */
const { port, secretPath } = JSON.parse(process.argv[2] ?? "") as { port: number; secretPath: string };
const status = readFileSync("/proc/self/status", "utf8");
const field = (name: string): string => new RegExp(`^${name}:\\s+(.*)$`, "m").exec(status)?.[1] ?? "";
const limitOf = (name: string): string =>
  new RegExp(`^${name} +(\\S+) +(\\S+)`, "m").exec(readFileSync("/proc/self/limits", "utf8"))?.[2] ?? "";

const outcome = (action: () => unknown): Promise<string> =>
  Promise.resolve()
    .then(action)
    .then(
      () => "allowed",
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
const connect = (): Promise<void> =>
  new Promise((resolve, reject) => {
    createConnection({ host: "127.0.0.1", port }).once("connect", resolve).once("error", reject);
  });

const seen = {
  uid: process.getuid?.(),
  groups: process.getgroups?.(),
  noNewPrivs: field("NoNewPrivs"),
  capEff: field("CapEff"),
  capBnd: field("CapBnd"),
  addressSpace: limitOf("Max address space"),
  cpuTime: limitOf("Max cpu time"),
  fileSize: limitOf("Max file size"),
  openFiles: limitOf("Max open files"),
  core: limitOf("Max core file size"),
  environment: Object.keys(process.env),
  connect: await outcome(connect),
  readSecret: await outcome(() => readFileSync(secretPath)),
  writeOutside: await outcome(() => writeFileSync("../outside", "")),
  becomeRoot: await outcome(() => process.setuid?.(0)),
};
writeFileSync("seen.json", JSON.stringify(seen));
process.exit();
