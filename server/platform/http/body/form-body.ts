import type { FastifyInstance, FastifyRequest } from "fastify";
import { ProblemError } from "../errors/problem.ts";
import { parseBody, refuseEncoded } from "./body-rules.ts";

/** Clients such as curl send JSON with the Content-Type of a form; no real form starts with this. */
const openingBrace = 0x7b;

/** Larger than any form of the app. */
const bodyLimit = 64 * 1024;

/** Several times as many as the longest form has. */
const maxFields = 100;

/**
 * Makes a scope read bodies as HTML forms send them, and as JSON where the client says so: pages without scripts, and
 * the OAuth endpoints (RFC 6749, section 3.2). A field sent twice keeps all its values as a list.
 */
export function readForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit },
    async (request: FastifyRequest, payload: Buffer) => {
      refuseEncoded(request);
      return isJson(request.sentContentType) || payload[0] === openingBrace
        ? checkFields(parseBody(payload))
        : checkFields(parseForm(payload));
    },
  );
}

function isJson(contentType: string): boolean {
  const [type = ""] = contentType.split(";", 1);
  return /^application\/(?:json|[\w.-]+\+json)$/i.test(type.trim());
}

/** @throws ProblemError `bad_request` when the form has more than `maxFields` fields, counting repeated ones. */
function parseForm(payload: Buffer): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  let count = 0;
  for (const [name, value] of new URLSearchParams(payload.toString("utf8"))) {
    count += 1;
    if (count > maxFields) throw tooManyFields();
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else fields[name] = [before, value];
  }
  return fields;
}

/**
 * Limits the number of fields, also of a JSON body, and refuses NUL, which no text in the database can hold. Checked
 * after parsing, where no percent-encoding or escape hides it.
 * @throws ProblemError `bad_request`.
 */
function checkFields<T>(body: T): T {
  if (typeof body !== "object" || body === null) return body;
  const fields = Object.entries(body);
  if (fields.length > maxFields) throw tooManyFields();
  for (const [name, value] of fields) {
    if (Array.isArray(value) && value.length > maxFields) throw tooManyFields();
    const values = [name, ...(Array.isArray(value) ? value : [value])];
    if (values.some((text) => typeof text === "string" && text.includes("\0")))
      throw new ProblemError("bad_request", "a name or value contains a NUL character");
  }
  return body;
}

function tooManyFields(): ProblemError {
  return new ProblemError("bad_request", `the form has too many fields; send at most ${maxFields}`);
}
