import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { TestApp } from "../../../../test/support/app.ts";

/** The protocol's own client, connected with a token. */
export async function connectTo({ url }: Pick<TestApp, "url">, token: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  // The SDK's own types disagree under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return client;
}

/** The tool's result, or its error as `refused`. */
export async function callTool(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
  // biome-ignore lint/suspicious/noExplicitAny: the results of several tools.
): Promise<any> {
  const result = await client.callTool({ name, arguments: input });
  const [first] = result.content as { type: string; text: string }[];
  return result.isError ? { refused: first?.text } : JSON.parse(first?.text ?? "null");
}
