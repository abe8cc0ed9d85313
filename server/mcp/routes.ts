import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { versions } from "../../contract/versions.ts";
import type { Config } from "../config.ts";
import { methodNotAllowed, ProblemError } from "../http/problem.ts";
import { askAs } from "./ask.ts";
import { createMcpServer } from "./tools.ts";

/** Where assistants connect. */
export const mcpPath = "/mcp";

/** RFC 9728, section 3.1: the resource's path follows the well-known part. */
const metadataPath = `/.well-known/oauth-protected-resource${mcpPath}`;

/** What the tools ask in; the newest version is never on its way out. */
const spoken = versions.find((version) => version.status === "current")?.name ?? "";

type McpConfig = Pick<Config, "baseUrl" | "datetimeFilters">;

/** Tells assistants where people sign in for them. Source: RFC 9728 (OAuth 2.0 Protected Resource Metadata). */
export function mcpMetadataRoutes(app: FastifyInstance, { config }: { readonly config: McpConfig }): void {
  const metadata = {
    resource: `${config.baseUrl}${mcpPath}`,
    resource_name: "Parley",
    authorization_servers: [config.baseUrl],
    bearer_methods_supported: ["header"],
    resource_documentation: `${config.baseUrl}/docs`,
  };
  for (const path of [metadataPath, "/.well-known/oauth-protected-resource"])
    app.get(path, async (_request, reply) => reply.header("access-control-allow-origin", "*").send(metadata));
}

/**
 * The Model Context Protocol over streamable HTTP, without sessions: each request stands alone, so any process answers
 * it. Registered in a scope whose guard has checked the token.
 */
export function mcpRoutes(scope: FastifyInstance, { config }: { readonly config: McpConfig }): void {
  // Tells a client without a good token where to get one (RFC 9728, section 5.1).
  scope.addHook("onSend", async (_request, reply) => {
    const challenge = reply.getHeader("www-authenticate");
    if (reply.statusCode === 401 && typeof challenge === "string")
      reply.header("www-authenticate", `${challenge}, resource_metadata="${config.baseUrl}${metadataPath}"`);
  });

  scope.post("/", async (request, reply) => {
    refuseBrowsers(request);
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = createMcpServer({
      ask: askAs(scope, request, spoken),
      datetimesByName: config.datetimeFilters === "by-name",
    });
    reply.hijack();
    reply.raw.on("close", () => {
      server
        .close()
        .catch((error: unknown) => request.log.warn({ err: error }, "an assistant's call did not close"));
    });
    await server.connect(transport);
    await transport.handleRequest(request.raw, reply.raw, request.body);
  });

  // Without sessions there is nothing to listen to or to end: 405 says so (Model Context Protocol, "Transports").
  for (const method of ["GET", "DELETE"] as const)
    scope.route({
      method,
      url: "/",
      handler: async (request) => {
        throw methodNotAllowed(request, ["POST"]);
      },
    });
}

/** Assistants carry tokens; a signed-in browser has nothing to do here. */
function refuseBrowsers(request: FastifyRequest): void {
  if (request.principal.tokenType === "session")
    throw new ProblemError("forbidden", "assistants connect with an access token");
}
