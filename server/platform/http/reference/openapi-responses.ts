import { z } from "zod";
import type { ZodOpenApiHeadersObject, ZodOpenApiOperationObject } from "zod-openapi";
import { type ErrorCode, errorCatalogue, Problem } from "../../../../contract/errors.ts";
import { isRedirectResponse, isTextResponse, type Operation } from "../../../../contract/operation.ts";

type Responses = ZodOpenApiOperationObject["responses"];

const text = { type: "string" } as const;
const count = { type: "integer", minimum: 0 } as const;

/** Response headers that many operations share, by their name. */
export const sharedHeaders = {
  "X-Request-Id": {
    description: "Identifies the request in the server's log; problem documents repeat it.",
    schema: text,
  },
  "X-RateLimit-Limit": {
    description: "Requests per minute that the token, or without a token the IP address, may make.",
    schema: count,
  },
  "X-RateLimit-Remaining": { description: "Requests that are left in this minute.", schema: count },
  "Retry-After": { description: "Seconds to wait before the next attempt.", schema: count },
  Deprecation: {
    description: "Since when the version is deprecated (RFC 9745); absent for the current version.",
    schema: { ...text, pattern: "^@\\d+$", example: "@1790812800" },
  },
  Sunset: {
    description: "When the version will be retired (RFC 8594); absent until the date is known.",
    schema: { ...text, example: "Wed, 31 Mar 2027 00:00:00 GMT" },
  },
  Link: {
    description: "How to move to the current version; comes with `Deprecation`.",
    schema: { ...text, example: '</docs/migration>; rel="deprecation"; type="text/html"' },
  },
  "WWW-Authenticate": { description: "How to authenticate (RFC 6750).", schema: text },
} as const;

type SharedHeader = keyof typeof sharedHeaders;

/** Headers of every response of an operation: those of the rate limit, and of a version's lifecycle if it has one. */
export function commonHeaders(isVersioned: boolean): readonly SharedHeader[] {
  const common = ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining"] as const;
  return isVersioned ? [...common, "Deprecation", "Sunset", "Link"] : common;
}

/** References to shared headers; the document must contain `sharedHeaders`. */
export function headerRefs(names: readonly SharedHeader[]): ZodOpenApiHeadersObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The response to a successful request. */
export function success(
  { response, responseHeaders = {} }: Pick<Operation, "response" | "responseHeaders">,
  headers: readonly SharedHeader[],
): Responses {
  if (isRedirectResponse(response)) {
    const location = { description: response.redirect, required: true, schema: text };
    return {
      "302": { description: response.redirect, headers: { ...headerRefs(headers), Location: location } },
    };
  }
  const [description, type, schema] = isTextResponse(response)
    ? [response.description, response.contentType, z.string()]
    : ["Success", "application/json", response];
  const own = Object.fromEntries(
    Object.entries(responseHeaders).map(([name, { description, example }]) => [
      name,
      { description, schema: { ...text, example } },
    ]),
  );
  return {
    "200": { description, headers: { ...headerRefs(headers), ...own }, content: { [type]: { schema } } },
  };
}

const headersByStatus: Readonly<Record<number, SharedHeader>> = {
  401: "WWW-Authenticate",
  429: "Retry-After",
  503: "Retry-After",
};

/** One response for each status, naming the error codes that share it. */
export function failures(codes: readonly ErrorCode[], headers: readonly SharedHeader[]): Responses {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorCatalogue[code].status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, group]) => {
        const own = headersByStatus[status];
        return [
          String(status),
          {
            description: group.map((code) => `\`${code}\`: ${errorCatalogue[code].title}.`).join(" "),
            headers: headerRefs(own === undefined ? headers : [...headers, own]),
            content: { "application/problem+json": { schema: Problem } },
          },
        ];
      }),
  );
}
