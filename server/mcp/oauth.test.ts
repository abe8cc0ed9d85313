import assert from "node:assert/strict";
import { test } from "node:test";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { startTestApp } from "../../test/support/app.ts";
import { makeRecording } from "../../test/support/factories.ts";
import { decide, makeClient, makeOAuthWorkspace, openBrowser } from "../../test/support/oauth.ts";
import { freePort } from "../../test/support/port.ts";

/** Metadata name the server's own address, so it has to be the one it listens at. */
const port = await freePort();
const app = await startTestApp({ port });

test("an assistant discovers the sign-in, a user authorizes it, and it continues with a refreshed token", async () => {
  const workspace = await makeOAuthWorkspace(app);
  const { recordingId } = await makeRecording(app, workspace.member.token);
  const callback = "http://127.0.0.1:7777/callback";
  const registered = await makeClient(app, workspace, { isPublic: true, redirectUris: [callback] });
  let tokens: OAuthTokens | undefined;
  let verifier = "";
  let askedAt: URL | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: callback,
    clientMetadata: {
      redirect_uris: [callback],
      client_name: "Assistant",
      token_endpoint_auth_method: "none",
    },
    clientInformation: () => ({ client_id: registered.id }),
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved;
    },
    redirectToAuthorization: (url) => {
      askedAt = url;
    },
    saveCodeVerifier: (saved) => {
      verifier = saved;
    },
    codeVerifier: () => verifier,
  };
  const open = () => new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), { authProvider: provider });
  const connect = async (client: Client, transport: StreamableHTTPClientTransport) =>
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    client.connect(transport as Parameters<Client["connect"]>[0]);

  const first = open();
  await assert.rejects(connect(new Client({ name: "test", version: "1" }), first), UnauthorizedError);
  assert.ok(askedAt, "the assistant was led to the sign-in");
  const back = await decide(openBrowser(app), askedAt.pathname + askedAt.search, workspace.member);
  await first.finishAuth(back.searchParams.get("code") ?? "");

  const client = new Client({ name: "test", version: "1" });
  await connect(client, open());
  const list = async () => {
    const result = await client.callTool({ name: "list_recordings", arguments: {} });
    const [content] = result.content as { text: string }[];
    return JSON.parse(content?.text ?? "null").recordings.map(({ id }: { id: string }) => id);
  };
  assert.deepEqual(await list(), [recordingId]);

  // The access token has run out: the client renews it without anybody being asked.
  const before = tokens?.access_token;
  await app.db.pool.query(
    "update access_tokens set expires_at = now() - interval '1 second' where type = 'oauth'",
  );
  assert.deepEqual(await list(), [recordingId]);
  assert.notEqual(tokens?.access_token, before);
  await client.close();
});
