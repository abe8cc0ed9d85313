import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  ask,
  authorizeUrl,
  decide,
  isActive,
  makePkce,
  openBrowser,
  password,
  redirectUri,
  type TokenReply,
  tokenPath,
} from "../support/oauth.ts";
import { parley, prepareServer, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

// With the default rate limit.
const env = { PARLEY_ROLE: "api", PARLEY_RATE_LIMIT_PER_MINUTE: "300" };
const first = await prepareServer({ env });
const second = await prepareServer({ env, shared: first });
after(async () => {
  await second.dispose();
  await first.dispose();
});

const email = "o@killed.example";
const clients = 100;

/** Creates a user with a password on the command line. */
function createUserWithPassword(workspace: string): Promise<void> {
  const args = [
    "user",
    "create",
    "--email",
    email,
    "--name",
    "O",
    "--workspace",
    workspace,
    "--password-stdin",
  ];
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [main, ...args],
      { env: { ...process.env, ...first.env } },
      (error) => (error === null ? resolve() : reject(error)),
    );
    child.stdin?.end(`${password}\n`);
  });
}

/** Sends a request to the servers in turn until one responds, as clients do. */
function sendUntilResponse(
  servers: readonly ServerProcess[],
  fields: Record<string, string>,
): Promise<TokenReply> {
  let turn = 0;
  return until("a response of the token endpoint", async () => {
    const server = servers[turn++ % servers.length] as ServerProcess;
    const reply = await ask(server, tokenPath, fields).catch(() => undefined);
    return reply?.status === 503 ? undefined : reply;
  });
}

test("100 clients refresh concurrently while a server is killed: every client ends with working tokens", async () => {
  await first.start();
  await second.start();
  const workspace = await parley(first, "workspace", "create", "--name", "Killed");
  await createUserWithPassword(workspace);
  const app = ["--name", "App", "--redirect-uri", redirectUri, "--public", "--workspace", workspace];
  const made = JSON.parse(await parley(first, "oauth-client", "create", ...app));
  const client = { id: made.client_id as string };
  const browser = openBrowser(first);
  const obtain = async (server: ServerProcess): Promise<string> => {
    const { verifier, challenge } = makePkce();
    const path = authorizeUrl(client, { code_challenge: challenge, code_challenge_method: "S256" });
    const back = await decide(browser, path, { email });
    const reply = await ask(server, tokenPath, {
      grant_type: "authorization_code",
      code: back.searchParams.get("code"),
      code_verifier: verifier,
      client_id: client.id,
    });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return reply.body.refresh_token;
  };
  const tokens = [await obtain(first)];
  while (tokens.length < clients) tokens.push(await obtain(tokens.length % 2 === 0 ? first : second));

  let responses = 0;
  const refreshed = tokens.map(async (token, index) => {
    let current = token;
    let last: TokenReply | undefined;
    for (let round = 0; round < 3; round += 1) {
      const servers = index % 2 === 0 ? [first, second] : [second, first];
      last = await sendUntilResponse(servers, {
        grant_type: "refresh_token",
        refresh_token: current,
        client_id: client.id,
      });
      assert.equal(last.status, 200, `client ${index}, round ${round}: ${JSON.stringify(last.body)}`);
      responses += 1;
      current = last.body.refresh_token;
    }
    return String(last?.body.access_token);
  });
  await until("half of the clients have responses", () => responses >= clients / 2);
  await first.kill();
  assert.ok(responses < clients * 3, "the server was killed too late");
  const accessTokens = await Promise.all(refreshed);
  for (const token of accessTokens) assert.ok(await isActive(second, token));
});
