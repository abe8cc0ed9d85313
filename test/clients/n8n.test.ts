import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { versionedOperations } from "../shape/operations.ts";
import type { TestApp } from "../support/app.ts";
import type { TestWorkspace } from "../support/factories.ts";
import { decide, makeClient, openSignedIn } from "../support/oauth.ts";
import { packageFolder, startClientSetup } from "./client-setup.ts";

const folder = packageFolder("n8n-node");
const skip = existsSync(join(folder, "node_modules", "n8n-core"))
  ? false
  : "needs n8n's engine: run npm ci --ignore-scripts in packages/n8n-node";
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));

/** Where Parley sends the user back to n8n. */
const n8nCallback = "https://n8n.test/rest/oauth2-credential/callback";

/**
 * Stands for a user with a browser: opens a posted authorization URL, allows the access, and responds with the URL of n8n
 * that Parley redirects to.
 */
async function startUser(app: TestApp, { member }: TestWorkspace): Promise<string> {
  const server = createServer(async (request, response) => {
    const { pathname, search } = new URL(Buffer.concat(await request.toArray()).toString());
    const callback = await decide(await openSignedIn(app, member), pathname + search, member);
    response.end(callback.href);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

before(() => {
  if (skip === false) execFileSync("npm", ["run", "--silent", "build"], { cwd: folder, stdio: "pipe" });
});

test("n8n's engine runs every operation with a token, one with OAuth, and the trigger survives the loss of its webhook", {
  skip,
}, async () => {
  const { app, workspace, folder: clientFolder, runProgram } = await startClientSetup();
  const oauthClient = await makeClient(app, workspace, { redirectUris: [n8nCallback] });
  const userUrl = await startUser(app, workspace);
  const printed = await runProgram("env", [
    `TLS_KEY=${fixture("receiver.key")}`,
    `TLS_CERTIFICATE=${fixture("receiver.crt")}`,
    `NODE_EXTRA_CA_CERTS=${fixture("receiver.crt")}`,
    `N8N_USER_FOLDER=${clientFolder}`,
    `OAUTH_CALLBACK=${n8nCallback}`,
    `OAUTH_CLIENT_ID=${oauthClient.id}`,
    `OAUTH_CLIENT_SECRET=${oauthClient.secret}`,
    `OAUTH_USER=${userUrl}`,
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

test("the package for n8n has what its package.json names, and nothing besides the build", { skip }, () => {
  const pack = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const [packed] = JSON.parse(execFileSync("npm", pack, { cwd: folder, encoding: "utf8", stdio: "pipe" }));
  const files = packed.files.map(({ path }: { path: string }) => path);
  const { main, n8n } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const path of [main, ...n8n.nodes, ...n8n.credentials]) assert.ok(files.includes(path), path);
  for (const path of files) assert.match(path, /^(package\.json|README\.md|dist\/[\w./-]+\.(js|d\.ts|svg))$/);
});
