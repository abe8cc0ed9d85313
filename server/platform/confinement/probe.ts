import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import type { Facts } from "./detect.ts";

/** Reports from inside how a confined program really runs. The library is loaded to prove that it can be read. */
await import("node-av/lib");
const isLinux = process.platform === "linux";
const status = isLinux ? readFileSync("/proc/self/status", "utf8") : "";
const facts: Facts = {
  uid: process.getuid?.() ?? -1,
  noNewPrivs: /^NoNewPrivs:\s+1$/m.test(status),
  hasCapabilities: isLinux ? !/^CapEff:\s+0+$/m.test(status) : process.getuid?.() === 0,
  hasNetwork: Object.keys(networkInterfaces()).length > 0,
};
process.stdout.write(JSON.stringify(facts));
