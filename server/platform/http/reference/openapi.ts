import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { oauthPaths } from "../../../../contract/accounts/oauth.ts";
import type { ErrorCode } from "../../../../contract/errors.ts";
import { commonErrors, isManagement, type Operation } from "../../../../contract/operation.ts";
import type { Permission } from "../../../../contract/permissions.ts";
import { HighlightInclude } from "../../../../contract/recordings/highlights.ts";
import { uploadFile, uploadFilesPath } from "../../../../contract/uploads/upload-file.ts";
import { isOpen, type VersionName, type VersionStatus, versions } from "../../../../contract/versions.ts";
import { hookTypesIn } from "../../../../contract/webhooks/hook-types.ts";
import {
  AnyHookType,
  createHook,
  HookInclude,
  HookTypeInput,
  HookTypeName,
} from "../../../../contract/webhooks/hooks.ts";
import { oauthOpenApiPaths } from "./openapi-oauth.ts";
import { commonHeaders, failures, headerRefs, sharedHeaders, success } from "./openapi-responses.ts";
import { includeAlternatives, includeByType, includeSchemas, webhooksOf } from "./openapi-webhooks.ts";

/**
 * The OpenAPI 3.1 document of one API version, made from the operations this server really has.
 * @param status of the version on this server.
 * @returns the document as a plain object.
 */
export function openApiDocument(
  version: VersionName,
  operations: readonly Operation[],
  status: VersionStatus = versions.find(({ name }) => name === version)?.status ?? "current",
): object {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) {
    if (!isOpen(operation.gate, version)) continue;
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][operation.method.toLowerCase()] = describe(operation, version, status !== "current");
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
      security: [{ accessToken: [] }, { oauth2: [] }],
      tags: [...new Set([...operations.map((operation) => operation.tag), "OAuth"])].map((name) => ({
        name,
        description: tagDescriptions[name] ?? name,
      })),
      paths: {
        ...(paths as ZodOpenApiPathsObject),
        ...oauthOpenApiPaths,
        [`${uploadFilesPath}/{upload_id}`]: { put: filePut(version) },
      },
      webhooks: webhooksOf(version),
      components: {
        schemas: includeSchemas(version),
        headers: sharedHeaders,
        securitySchemes: {
          accessToken: {
            type: "http",
            scheme: "bearer",
            description: "A personal or workspace access token, or an OAuth 2.0 token of an app.",
          },
          oauth2: {
            type: "oauth2",
            description:
              "Authorization code with PKCE (RFC 7636, S256). There are no scopes: an app acts for the user who authorized it.",
            flows: {
              authorizationCode: {
                authorizationUrl: oauthPaths.authorize,
                tokenUrl: oauthPaths.token,
                refreshUrl: oauthPaths.token,
                scopes: {},
              },
            },
          },
        },
      },
    },
    {
      override: ({ zodSchema, jsonSchema }) => {
        if (zodSchema === HookTypeName || zodSchema === HookTypeInput) jsonSchema.enum = hookTypesIn(version);
        else if (zodSchema === AnyHookType) delete jsonSchema.enum;
        else if (zodSchema === createHook.body) Object.assign(jsonSchema, includeByType(version));
        else if (zodSchema === HookInclude) replace(jsonSchema, includeAlternatives(version));
        // Part of requests and of hooks in responses, in both documents alike.
        else if (zodSchema === HighlightInclude) delete jsonSchema.additionalProperties;
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

function replace(target: object, source: object): void {
  for (const key of Object.keys(target)) Reflect.deleteProperty(target, key);
  Object.assign(target, source);
}

function describe(
  operation: Operation,
  version: VersionName,
  isDeprecated: boolean,
): ZodOpenApiOperationObject {
  const isVersioned = !isManagement(operation);
  const headers = commonHeaders(isVersioned);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    ...(isVersioned && isDeprecated ? { deprecated: true } : {}),
    ...(operation.permission === "anyone" ? { security: [] } : {}),
    requestParams: {
      ...(isVersioned ? { header: versionHeader(version) } : {}),
      ...(operation.query === undefined ? {} : { query: operation.query }),
      ...(operation.params === undefined ? {} : { path: operation.params }),
    },
    ...bodyOf(operation),
    responses: {
      ...success(operation, headers),
      ...failures([...commonOf(operation), ...operation.errors], headers),
    },
  };
}

/** A body is required if it has a required field. */
function bodyOf({ body }: Operation): Pick<ZodOpenApiOperationObject, "requestBody"> {
  if (body === undefined || Object.keys(body.shape).length === 0) return {};
  const required = !Object.values(body.shape).every((field) => field._zod.optin === "optional");
  return {
    requestBody: { ...(required ? { required } : {}), content: { "application/json": { schema: body } } },
  };
}

/** The upload of a file, to a URL that Create Upload or Upload Recording returns. */
function filePut(version: VersionName): ZodOpenApiOperationObject {
  const isStaged = isOpen("staged_uploads", version);
  const file = { type: "string", format: "binary" } as const;
  return {
    operationId: uploadFile.id,
    tags: ["Uploads"],
    summary: uploadFile.summary,
    description: isStaged
      ? `${uploadFile.description} ${uploadFile.stagedDescription}`
      : uploadFile.description,
    // The signature in the URL is the permission.
    security: [],
    requestParams: {
      path: uploadFile.params,
      query: uploadFile.query,
      header: z.object({
        "If-None-Match": isStaged ? uploadFile.ifNoneMatch : uploadFile.ifNoneMatch.optional(),
        "Content-Length": uploadFile.contentLength,
      }),
    },
    requestBody: { required: true, content: { "application/octet-stream": { schema: file } } },
    responses: {
      "200": {
        description: "The file has arrived.",
        headers: {
          ...headerRefs(["X-Request-Id"]),
          ETag: { description: "Identifies the file's content.", schema: { type: "string" } },
        },
        content: { "application/json": { schema: uploadFile.response } },
      },
      ...failures(uploadFile.errors, ["X-Request-Id"]),
    },
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
  const withBody: readonly ErrorCode[] = operation.method === "GET" ? common : [...common, "body_too_large"];
  const withProof: readonly ErrorCode[] =
    operation.proof === undefined ? withBody : [...withBody, "proof_required"];
  return isOpenToAll(operation.permission) ? withProof : [...withProof, "forbidden"];
}

/** Whether every kind of caller is allowed, including viewers. */
function isOpenToAll(permission: Permission): boolean {
  return permission === "anyone" || permission === "read";
}
