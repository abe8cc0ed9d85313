import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { mcpPath } from "../../../contract/accounts/oauth.ts";
import { versions } from "../../../contract/versions.ts";
import type { Config } from "../../platform/config/config.ts";
import { methodNotAllowed, ProblemError } from "../../platform/http/errors/problem.ts";
import { askAs } from "./ask.ts";

/** RFC 9728, section 3.1: the resource's path follows the well-known part. */
const metadataPath = `/.well-known/oauth-protected-resource${mcpPath}`;

/** The metadata of the whole server, for clients that know only its URL. */
const rootMetadataPath = "/.well-known/oauth-protected-resource";

/** The API version that the tools use: the current one, which is never deprecated. */
const spoken = versions.find((version) => version.status === "current")?.name ?? "";

/** Messages in one request: all of them are handled at once. */
const maxBatch = 10;

type McpConfig = Pick<Config, "baseUrl" | "datetimeFilters">;

/** Tells assistants where people sign in for them. Source: RFC 9728 (OAuth 2.0 Protected Resource Metadata). */
export function mcpMetadataRoutes(app: FastifyInstance, { config }: { readonly config: McpConfig }): void {
  const metadataOf = (resource: string) => ({
    resource,
    resource_name: "Parley",
    authorization_servers: [config.baseUrl],
    bearer_methods_supported: ["header"],
    resource_documentation: `${config.baseUrl}/docs`,
  });
  const everyone = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
  for (const [path, metadata] of [
    [metadataPath, metadataOf(config.baseUrl + mcpPath)],
    [rootMetadataPath, metadataOf(config.baseUrl)],
  ] as const) {
    app.get(path, async (_request, reply) => reply.headers(everyone).send(metadata));
    // Clients in a page may send custom headers, which need a preflight.
    app.options(path, async (_request, reply) => reply.code(204).headers(everyone).send());
  }
}

/**
 * The Model Context Protocol over streamable HTTP, without sessions: every request is independent, so any process can
 * serve it. Registered in a scope whose guard has checked the token.
 */
export function mcpRoutes(scope: FastifyInstance, { config }: { readonly config: McpConfig }): void {
  // Tells a client without a good token where to get one (RFC 9728, section 5.1).
  scope.addHook("onSend", async (_request, reply) => {
    const challenge = reply.getHeader("www-authenticate");
    if (reply.statusCode === 401 && typeof challenge === "string")
      reply.header("www-authenticate", `${challenge}, resource_metadata="${config.baseUrl}${metadataPath}"`);
  });

  scope.post("/", { errorHandler: sendParseError }, async (request, reply) => {
    refuseBrowsers(request);
    if (Array.isArray(request.body) && request.body.length > maxBatch)
      return reply.code(400).send({
        jsonrpc: "2.0",
        id: null,
        error: { code: -32600, message: `a batch has at most ${maxBatch} messages; send several` },
      });
    // Loaded with the first request: most servers get none, and it takes 0.15 s and 20 MB.
    const [{ StreamableHTTPServerTransport }, { createMcpServer }] = await Promise.all([
      import("@modelcontextprotocol/sdk/server/streamableHttp.js"),
      import("./tools.ts"),
    ]);
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: !wantsProgress(request.body) });
    const closed = new AbortController();
    const server = createMcpServer({
      ask: askAs(scope, request, spoken, closed.signal),
      baseUrl: config.baseUrl,
      datetimesByName: (request.principal.datetimeFilters ?? config.datetimeFilters) === "by-name",
    });
    reply.hijack();
    // The transport writes to the raw response, which lacks the headers that the hooks have set.
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    reply.raw.on("close", () => {
      closed.abort();
      server
        .close()
        .catch((error: unknown) =>
          request.log.warn({ err: error }, "could not close an assistant's request"),
        );
    });
    await server.connect(transport);
    await transport.handleRequest(request.raw, reply.raw, request.body);
  });

  // Without sessions there is no stream to open or end, so these return 405 (Model Context Protocol, "Transports").
  for (const method of ["GET", "DELETE"] as const)
    scope.route({
      method,
      url: "/",
      handler: async (request) => {
        throw methodNotAllowed(request, ["POST"]);
      },
    });
}

/** A body that can't be parsed has no id (JSON-RPC 2.0, section 5.1). @throws every other error. */
async function sendParseError(error: Error, _request: FastifyRequest, reply: FastifyReply) {
  if (!(error instanceof ProblemError) || error.code !== "invalid_json") throw error;
  return reply.code(400).send({ jsonrpc: "2.0", id: null, error: { code: -32700, message: error.message } });
}

/** A question that its sender wants to follow: only such a request gets a stream as its response. */
const FollowedQuestion = z.object({
  method: z.literal("tools/call"),
  params: z.object({
    name: z.literal("ask"),
    _meta: z.object({ progressToken: z.union([z.string(), z.number()]) }),
  }),
});

function wantsProgress(body: unknown): boolean {
  return [body].flat().some((message) => FollowedQuestion.safeParse(message).success);
}

/** Assistants use tokens; browser sessions are refused. */
function refuseBrowsers(request: FastifyRequest): void {
  if (request.principal.tokenType === "session")
    throw new ProblemError(
      "forbidden",
      "a signed-in session can't be used here; connect with an access token",
    );
}
