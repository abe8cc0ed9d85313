import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { versionedOperations } from "../shape/operations.ts";
import { packageFolder, startClientSetup } from "./client-setup.ts";

const folder = packageFolder("n8n-node");
const skip = existsSync(join(folder, "node_modules", "n8n-core"))
  ? false
  : "needs n8n's engine: run npm ci --ignore-scripts in packages/n8n-node";
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));

test("n8n's engine runs every operation, and the trigger survives the loss of its webhook and refuses forged requests", {
  skip,
}, async () => {
  execFileSync("npm", ["run", "--silent", "build"], { cwd: folder, stdio: "pipe" });
  const { folder: clientFolder, runProgram } = await startClientSetup();
  const printed = await runProgram("env", [
    `TLS_KEY=${fixture("receiver.key")}`,
    `TLS_CERTIFICATE=${fixture("receiver.crt")}`,
    `NODE_EXTRA_CA_CERTS=${fixture("receiver.crt")}`,
    `N8N_USER_FOLDER=${join(folder, "dist")}`,
    `N8N_STORAGE_PATH=${join(clientFolder, "n8n")}`,
    process.execPath,
    join(folder, "test", "run-nodes.cjs"),
  ]);
  assert.match(printed, /every operation called/);
  const { operations } = (await import(`${folder}dist/nodes/operations.js`)) as {
    operations: { value: string }[];
  };
  assert.deepEqual(
    operations.map(({ value }) => value).toSorted(),
    versionedOperations
      .filter(({ gate, id }) => gate !== "one_step_upload" && id !== "uploadRecording")
      .map(({ id }) => id)
      .toSorted(),
  );
});
