import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { type Ask, Refusal } from "./ask.ts";
import { readDocument } from "./document.ts";

interface Listed {
  readonly recordings: readonly {
    readonly id: string;
    readonly title: string;
    readonly start_datetime: string;
  }[];
}

/**
 * Recordings as resources, which users attach to a conversation: the newest page of them, and each by its id. Source: Model
 * Context Protocol, "Resources".
 */
export function registerResources(server: McpServer, ask: Ask): void {
  const template = new ResourceTemplate("parley://recordings/{id}", {
    list: async () => {
      const { recordings } = (await reported(() =>
        ask("POST", "/_/public-api/v2/recordings", { body: {} }),
      )) as Listed;
      return {
        resources: recordings.map(({ id, title, start_datetime }) => ({
          uri: `parley://recordings/${id}`,
          name: title,
          description: `Recorded ${start_datetime}`,
          mimeType: "text/markdown",
        })),
      };
    },
  });
  server.registerResource(
    "recording",
    template,
    {
      title: "Recording",
      description: "Summary and transcript of a recording",
      mimeType: "text/markdown",
    },
    async (uri, { id }) => {
      const parsed = z.uuid().safeParse(id);
      if (!parsed.success) throw new McpError(ErrorCode.InvalidParams, "the id of a recording is a UUID");
      const { text } = await reported(() => readDocument(ask, parsed.data));
      return { contents: [{ uri: uri.href, mimeType: "text/markdown", text }] };
    },
  );
}

/** An error of the API as one of the protocol. */
async function reported<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Refusal ? new McpError(ErrorCode.InvalidParams, error.message) : error;
  }
}
