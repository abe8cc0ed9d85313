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
        ? parseBody(payload)
        : parseForm(payload),
  );
}

function isJson(contentType: string): boolean {
  return /^\s*application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(contentType);
}

function parseForm(payload: Buffer): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  const text = payload.toString("utf8");
  if (text.includes("\0")) throw new ProblemError("bad_request", "the form holds a character that is none");
  for (const [name, value] of new URLSearchParams(text)) {
    const before = fields[name];
    fields[name] = before === undefined ? value : [before, value].flat();
  }
  return fields;
}
