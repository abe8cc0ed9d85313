import assert from "node:assert/strict";
import { test } from "node:test";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { startTestApp } from "../../../test/support/app.ts";
import { makeRecording } from "../../../test/support/factories.ts";
import { receiverCertificate, startHookReceiver } from "../../../test/support/hook-receiver.ts";
import {
  decide,
  isActive,
  makeClient,
  makeOAuthWorkspace,
  openBrowser,
} from "../../../test/support/oauth.ts";
import { freePort } from "../../../test/support/port.ts";

/** The metadata contains the server's own URL, so it has to be the one it listens at. */
const port = await freePort();
const app = await startTestApp({
  port,
  trustedCertificate: receiverCertificate(),
  documentAddresses: "127.0.0.0/8",
});
const workspace = await makeOAuthWorkspace(app);
const { recordingId } = await makeRecording(app, workspace.member.token);
const callback = "http://127.0.0.1:7777/callback";
const documents = await startHookReceiver({ tls: true });

/** The protocol's own client, which finds everything else from the server's URL. */
function openAssistant(options: { readonly clientId?: string; readonly documentUrl?: string } = {}) {
  let tokens: OAuthTokens | undefined;
  let information: OAuthClientInformationMixed | undefined =
    options.clientId === undefined ? undefined : { client_id: options.clientId };
  let verifier = "";
  let askedAt: URL | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: callback,
    ...(options.documentUrl === undefined ? {} : { clientMetadataUrl: options.documentUrl }),
    clientMetadata: {
      redirect_uris: [callback],
      client_name: "Assistant",
      token_endpoint_auth_method: "none",
    },
    clientInformation: () => information,
    saveClientInformation: (saved) => {
      information = saved;
    },
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
  const client = new Client({ name: "test", version: "1" });
  const connect = async (to: Client, transport: StreamableHTTPClientTransport) =>
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    to.connect(transport as Parameters<Client["connect"]>[0]);
  return {
    client,
    tokens: () => tokens,
    clientId: () => information?.client_id,
    /** Connects; the member signs in and consents. */
    async signIn(): Promise<void> {
      const first = open();
      await assert.rejects(connect(new Client({ name: "test", version: "1" }), first), UnauthorizedError);
      assert.ok(askedAt, "the assistant was led to the sign-in");
      const back = await decide(openBrowser(app), askedAt.pathname + askedAt.search, workspace.member);
      await first.finishAuth(back.searchParams.get("code") ?? "");
      await connect(client, open());
    },
    async list(): Promise<string[]> {
      const result = await client.callTool({ name: "list_recordings", arguments: {} });
      const [content] = result.content as { text: string }[];
      return JSON.parse(content?.text ?? "null").recordings.map(({ id }: { id: string }) => id);
    },
  };
}

test("an assistant that knows only the URL registers itself, is authorized, and reads a first result", async () => {
  const assistant = openAssistant();
  await assistant.signIn();
  assert.match(assistant.clientId() ?? "", /^[0-9a-f-]{36}$/);
  const found = await assistant.client.callTool({ name: "search", arguments: { query: "contract" } });
  const [{ text }] = found.content as [{ text: string }];
  assert.equal(JSON.parse(text).results[0].id, recordingId);
  // The client named the resource, so its token works nowhere else.
  assert.equal(await isActive(app, assistant.tokens()?.access_token ?? ""), false);
  await assistant.client.close();
});

test("an assistant with a metadata document uses its URL as the client_id and registers nothing", async () => {
  const documentUrl = `https://127.0.0.1:${documents.port}/assistant.json`;
  documents.at("/assistant.json", (_request, response) => {
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ client_id: documentUrl, client_name: "Assistant", redirect_uris: [callback] }));
  });
  const assistant = openAssistant({ documentUrl });
  await assistant.signIn();
  assert.equal(assistant.clientId(), documentUrl);
  assert.deepEqual(await assistant.list(), [recordingId]);
  await assistant.client.close();
});

test("an assistant discovers the sign-in, a user authorizes it, and it continues with a refreshed token", async () => {
  const registered = await makeClient(app, workspace, { isPublic: true, redirectUris: [callback] });
  const assistant = openAssistant({ clientId: registered.id });
  await assistant.signIn();
  assert.deepEqual(await assistant.list(), [recordingId]);

  // After the access token has expired, the client refreshes it without asking the user.
  const before = assistant.tokens()?.access_token;
  await app.db.pool.query(
    "update access_tokens set expires_at = now() - interval '1 second' where type = 'oauth'",
  );
  assert.deepEqual(await assistant.list(), [recordingId]);
  assert.notEqual(assistant.tokens()?.access_token, before);
  await assistant.client.close();
});

test("a user who is deactivated between two requests of an assistant gets nothing more", async () => {
  const assistant = openAssistant();
  await assistant.signIn();
  assert.deepEqual(await assistant.list(), [recordingId]);
  await app.db.pool.query("update users set deactivated_at = now() where id = $1", [workspace.member.id]);
  await assert.rejects(assistant.list());
  await app.db.pool.query("update users set deactivated_at = null where id = $1", [workspace.member.id]);
  await assistant.client.close().catch(() => undefined);
});
