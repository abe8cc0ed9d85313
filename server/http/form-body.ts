import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseBody } from "./body-rules.ts";
import { ProblemError } from "./problem.ts";

/** Clients send JSON under the type of a form, as curl does; no form of ours begins like that. */
const openingBrace = 0x7b;

/** More than any form of ours has to say. */
const bodyLimit = 64 * 1024;

/**
 * Makes a scope read bodies as HTML forms send them, and as JSON where the client says so: pages without scripts, and
 * the OAuth endpoints (RFC 6749, section 3.2). A field sent twice keeps all its values as a list.
 */
export function readForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit },
    async (request: FastifyRequest, payload: Buffer) =>
      isJson(request.sentContentType) || payload[0] === openingBrace
        ? refuseNul(parseBody(payload))
        : refuseNul(parseForm(payload)),
  );
}

function isJson(contentType: string): boolean {
  return /^\s*application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(contentType);
}

function parseForm(payload: Buffer): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(payload.toString("utf8"))) {
    const before = fields[name];
    fields[name] = before === undefined ? value : [before, value].flat();
  }
  return fields;
}

/**
 * No text in the database can hold NUL. Looked for in what was read, where no percent-encoding or escape hides it.
 * @throws ProblemError `bad_request`.
 */
function refuseNul<T>(body: T): T {
  if (typeof body !== "object" || body === null) return body;
  for (const [name, value] of Object.entries(body)) {
    const texts = [name, value].flat();
    if (texts.some((text) => typeof text === "string" && text.includes("\0")))
      throw new ProblemError("bad_request", "a name or value holds the character NUL");
  }
  return body;
}
