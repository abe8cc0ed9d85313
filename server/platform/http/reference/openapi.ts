import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { type ErrorCode, errorCatalogue, Problem } from "../../../../contract/errors.ts";
import { AnyHookType, HookTypeInput, HookTypeName, hookTypesIn } from "../../../../contract/hooks.ts";
import { oauthOpenApiPaths } from "../../../../contract/oauth-openapi.ts";
import {
  commonErrors,
  isManagement,
  isRedirectResponse,
  isTextResponse,
  type Operation,
} from "../../../../contract/operation.ts";
import type { Permission } from "../../../../contract/permissions.ts";
import { isOpen, type VersionName } from "../../../../contract/versions.ts";

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
  return createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "Parley",
        version,
        description:
          "Stores meeting recordings, takes uploads and turns them into recordings, and lets people and programs find, read, share and download them. Several read operations use POST; that is intentional. Timestamps in responses are ISO 8601 in UTC; requests may use any ISO 8601 calendar date-time, and UTC is assumed without an offset. Identifiers are UUIDs.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/", description: "This server" }],
      security: [{ accessToken: [] }],
      tags: [...new Set([...operations.map((operation) => operation.tag), "OAuth"])].map((name) => ({
        name,
        description: tagDescriptions[name] ?? name,
      })),
      paths: { ...(paths as ZodOpenApiPathsObject), ...oauthOpenApiPaths },
      components: {
        securitySchemes: {
          accessToken: {
            type: "http",
            scheme: "bearer",
            description: "A personal or workspace access token, or an OAuth 2.0 token of an app.",
          },
        },
      },
    },
    {
      override: ({ zodSchema, jsonSchema }) => {
        if (zodSchema === HookTypeName || zodSchema === HookTypeInput) jsonSchema.enum = hookTypesIn(version);
        else if (zodSchema === AnyHookType) delete jsonSchema.enum;
      },
    },
  );
}

const tagDescriptions: Readonly<Record<string, string>> = {
  Recordings: "Find, read, rename, tag and share recordings and their transcripts.",
  Uploads: "Upload meetings.",
  Directory: "Users, teams and meeting types of the workspace.",
  Token: "The token in use.",
  Highlights: "Highlight parts of recordings.",
  Stories: "Combine highlights into stories.",
  Hooks: "Get notified of events; inspect and retry deliveries.",
  Events: "Poll events.",
  "Recording data": "Read and change all data of a recording.",
  "Meeting types": "The workspace's meeting types, for admins.",
  Imports: "Import recordings from other systems with their metadata.",
  "Transcript editing": "Correct transcripts, see and undo edits, transcribe again.",
  Intelligence: "AI summaries, action items and custom sections.",
  Audit: "Who did what, when and from where.",
  "Sign-in": "Sessions and the caller's own account.",
  People: "Users and teams of the workspace.",
  Tokens: "Personal and workspace access tokens.",
  OAuth: "Tokens for apps.",
  Apps: "OAuth 2.0 apps that users have authorized.",
  Management: "Management of recordings and the workspace.",
};

function describe(operation: Operation, version: VersionName): ZodOpenApiOperationObject {
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    ...(operation.permission === "anyone" ? { security: [] } : {}),
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
      .meta({ description: "The API version of this request.", default: version, example: version }),
  });
}

function commonOf(operation: Operation): readonly ErrorCode[] {
  const common = isManagement(operation)
    ? commonErrors.filter((code) => !code.startsWith("version_"))
    : commonErrors;
  return isOpenToAll(operation.permission) ? common : [...common, "forbidden"];
}

/** Whether every kind of caller is allowed, including viewers. */
function isOpenToAll(permission: Permission): boolean {
  return permission === "anyone" || permission === "read";
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
