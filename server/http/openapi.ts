import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { type ErrorCode, errorCatalogue, Problem } from "../../contract/errors.ts";
import {
  commonErrors,
  isManagement,
  isRedirectResponse,
  isTextResponse,
  type Operation,
} from "../../contract/operation.ts";
import { isOpen, type VersionName } from "../../contract/versions.ts";

/**
 * The OpenAPI 3.1 document of one API version, made from the operations this server really has.
 * @returns the document as a plain object.
 */
export function openApiDocument(version: VersionName, operations: readonly Operation[]): object {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) {
    if (!isOpen(operation.gate, version)) continue;
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][operation.method.toLowerCase()] = describe(operation, version);
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Parley",
      version,
      description:
        "Stores meeting recordings, takes uploads and turns them into recordings, and lets people and programs find, read, share and download them. Several read operations use POST; that is intentional. Timestamps are ISO 8601 in UTC, identifiers are UUIDs.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This server" }],
    security: [{ accessToken: [] }],
    tags: [...new Set(operations.map((operation) => operation.tag))].map((name) => ({
      name,
      description: tagDescriptions[name] ?? name,
    })),
    paths: paths as ZodOpenApiPathsObject,
    components: {
      securitySchemes: {
        accessToken: {
          type: "http",
          scheme: "bearer",
          description: "A personal or workspace access token.",
        },
      },
    },
  });
}

const tagDescriptions: Readonly<Record<string, string>> = {
  Recordings: "Find, read, rename, tag and share recordings and their transcripts.",
  Uploads: "Bring in a meeting from elsewhere.",
  Directory: "Users, teams and meeting types of the workspace.",
  Token: "The token in use.",
  Highlights: "Mark parts of recordings.",
  Stories: "Put highlights together.",
  Hooks: "Be told of what happens, see how that went, and repair it.",
  Events: "Fetch what happened.",
  "Recording data": "Everything a recording says of itself, read and changed.",
  "Meeting types": "The workspace's meeting types, for admins.",
  Imports: "Bring in recordings made elsewhere, with all that is known of them.",
  "Transcript editing": "Correct transcripts, see who changed what, take it back, make them anew.",
  Intelligence: "Have a language model write summaries, action items and sections of your own.",
  Audit: "Who did what, when and from where.",
  Management: "What goes beyond finding, reading and sharing.",
};

function describe(operation: Operation, version: VersionName): ZodOpenApiOperationObject {
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    requestParams: {
      ...(isManagement(operation) ? {} : { header: versionHeader(version) }),
      ...(operation.query === undefined ? {} : { query: operation.query }),
      ...(operation.params === undefined ? {} : { path: operation.params }),
    },
    ...(operation.body === undefined || Object.keys(operation.body.shape).length === 0
      ? {}
      : { requestBody: { content: { "application/json": { schema: operation.body } } } }),
    responses: { ...success(operation), ...failures([...commonOf(operation), ...operation.errors]) },
  };
}

function versionHeader(version: VersionName): z.ZodObject {
  return z.object({
    "Public-Api-Version": z
      .enum([version])
      .meta({ description: "The API version this request speaks.", default: version, example: version }),
  });
}

function commonOf(operation: Operation): readonly ErrorCode[] {
  return isManagement(operation) ? commonErrors.filter((code) => !code.startsWith("version_")) : commonErrors;
}

function success({ response }: Operation): ZodOpenApiOperationObject["responses"] {
  if (isRedirectResponse(response)) {
    return {
      "302": {
        description: response.redirect,
        headers: z.object({ Location: z.string().meta({ description: response.redirect }) }),
      },
    };
  }
  if (isTextResponse(response)) {
    return {
      "200": {
        description: response.description,
        content: { [response.contentType]: { schema: z.string() } },
      },
    };
  }
  return { "200": { description: "Success", content: { "application/json": { schema: response } } } };
}

/** One response for each status, naming the error codes that share it. */
function failures(codes: readonly ErrorCode[]): ZodOpenApiOperationObject["responses"] {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorCatalogue[code].status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, group]) => [
        String(status),
        {
          description: group.map((code) => `\`${code}\`: ${errorCatalogue[code].title}.`).join(" "),
          content: { "application/problem+json": { schema: Problem } },
        },
      ]),
  );
}
