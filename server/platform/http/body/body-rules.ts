import type { FastifyInstance, FastifyRequest } from "fastify";
import type { z } from "zod";
import { because, type Explanation } from "../../../../contract/causes/causes.ts";
import type { Violation } from "../../../../contract/errors.ts";
import { maxSegments } from "../../../../shared/transcripts/transcript-limits.ts";
import { createSemaphore, type Release } from "../../concurrency.ts";
import { findJsonExcess, type JsonExcess, type JsonLimits } from "../../json-limits.ts";
import { invalidInput, ProblemError } from "../errors/problem.ts";

/** Deeper than any input of the contract, far below what could exhaust a stack. */
const maxDepth = 32;

/** Violations listed in one response. */
const maxViolations = 100;

/**
 * Limits that are checked before a body is parsed: several times as many values as the longest transcript the contract
 * allows, and more keys than any object of it has. `maxDepth` above is reported with the path of the value.
 */
const jsonLimits: JsonLimits = { maxKeys: 1000, maxValues: 2_000_000, maxDepth: 1000 };

/** Entries in one list: as many as the longest one of the contract's input may have. */
const maxEntries = maxSegments;

/** Smaller bodies are parsed at once. */
const alwaysCheapBytes = 1024 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads every body as JSON, whatever its Content-Type says: real clients send JSON under
 * `application/x-www-form-urlencoded` or none, and empty bodies under `application/json`.
 * An empty body means `{}`.
 */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Replaces invalid Content-Types too, which the framework would refuse before any parser runs.
  app.decorateRequest("sentContentType", "");
  app.addHook("onRequest", async (request) => {
    request.sentContentType = request.headers["content-type"] ?? "";
    if (request.headers["content-type"] !== undefined) request.headers["content-type"] = "application/json";
  });
  // Large bodies are read one at a time: parsing one keeps the process busy for a moment, and many at once would leave
  // other requests without a response and the database without a free connection.
  const bodyMutex = createSemaphore(1);
  app.addContentTypeParser("*", { parseAs: "buffer" }, async (request: FastifyRequest, payload: Buffer) => {
    refuseEncoded(request);
    if (payload.length > alwaysCheapBytes) {
      request.releaseBody = await bodyMutex.acquire();
      // Small requests that arrived in the meantime go first.
      await new Promise((next) => setImmediate(next));
      // A client that left while waiting must not block the others.
      if (request.raw.socket.destroyed) {
        request.releaseBody();
        throw new ProblemError("bad_request", "the client disconnected before its body was read");
      }
    }
    return parseBody(payload);
  });
  app.decorateRequest("releaseBody", null);
  app.addHook("onSend", async (request) => request.releaseBody?.());
  app.addHook("onRequestAbort", async (request) => request.releaseBody?.());
}

/**
 * @throws ProblemError `unsupported_encoding` for a compressed body: what it holds could be any size. Source: RFC 9110,
 * section 15.5.16.
 */
export function refuseEncoded({ headers }: FastifyRequest): void {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return;
  throw new ProblemError(
    "unsupported_encoding",
    `the body is encoded (Content-Encoding: ${encoding.slice(0, 50)}); send it uncompressed`,
    { headers: { "accept-encoding": "identity" } },
  );
}

declare module "fastify" {
  interface FastifyRequest {
    /** The Content-Type the client sent; bodies are read as JSON whatever it says, except forms. */
    sentContentType: string;
    /** Releases the mutex that requests with a large body hold; may be called again. */
    releaseBody: Release | null;
  }
}

/**
 * Parses a JSON body.
 * @throws ProblemError `invalid_json` when it is not UTF-8 or not JSON, `invalid_input` or `body_too_large` when it has
 * more keys or values than any operation accepts.
 */
export function parseBody(payload: Buffer): unknown {
  refuseExcess(findJsonExcess(payload, jsonLimits));
  let text: string;
  try {
    text = utf8.decode(payload);
  } catch {
    throw new ProblemError("invalid_json", "the body is not valid UTF-8");
  }
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ProblemError(
      "invalid_json",
      `the body is not valid JSON: ${describeSyntaxError(error as Error)}`,
    );
  }
}

/** @throws ProblemError */
function refuseExcess(excess: JsonExcess | null): void {
  const { maxKeys, maxValues } = jsonLimits;
  if (excess === "maxValues")
    throw new ProblemError("body_too_large", `the body contains more than ${maxValues} values`);
  if (excess === "maxKeys")
    throw invalidInput([{ pointer: "", detail: `has an object with more than ${maxKeys} keys` }]);
  if (excess === "maxDepth") throw invalidInput([{ pointer: "", detail: "is nested too deeply" }]);
}

/** Reports only the position, because V8's message quotes the input, which may be secret. */
function describeSyntaxError(error: Error): string {
  const position = /at position (\d+)/.exec(error.message);
  return position ? `syntax error at character ${position[1]}` : "syntax error";
}

/**
 * Accepts variants that real clients send: null for an omitted property, an empty string for an omitted filter or cursor,
 * an array of names for an include.
 */
function normalizeBody(body: Record<string, unknown>, keepNulls = false): Record<string, unknown> {
  const result = keepNulls ? { ...body } : withoutNulls(body);
  if (result.cursor === "") delete result.cursor;
  if (isObject(result.filter)) {
    const filter = withoutNulls(result.filter);
    for (const [name, value] of Object.entries(filter)) if (value === "") delete filter[name];
    result.filter = filter;
  }
  if (Array.isArray(result.include) && result.include.every((name) => typeof name === "string")) {
    result.include = Object.fromEntries(result.include.map((name) => [name, true]));
  }
  if (isObject(result.include)) {
    const include = withoutNulls(result.include);
    if (include.ai_template_sections === true) include.ai_template_sections = {};
    if (include.ai_template_sections === false) delete include.ai_template_sections;
    if (isObject(include.ai_template_sections))
      include.ai_template_sections = withoutNulls(include.ai_template_sections);
    result.include = include;
  }
  if (isObject(result.attributes)) {
    const attributes = { ...result.attributes };
    // The others may be null, which empties them.
    for (const name of ["recorder_ids", "participants", "transcript"])
      if (attributes[name] === null) delete attributes[name];
    result.attributes = attributes;
  }
  return result;
}

function withoutNulls(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Checks a body against its schema.
 * @param keepNulls null empties a property of this body, rather than leaving it out.
 * @throws ProblemError `invalid_input` listing every violation with its JSON pointer.
 */
export function validateBody<S extends z.ZodObject>(
  schema: S,
  body: unknown,
  keepNulls = false,
): z.output<S> {
  if (body !== undefined && !isObject(body))
    throw invalidInput([{ pointer: "", detail: "must be a JSON object" }]);
  const input = body ?? {};
  const textViolations = findUnstorable(input);
  if (textViolations.length > 0) throw invalidInput(textViolations);
  const result = schema.safeParse(normalizeBody(input, keepNulls));
  if (result.success) return result.data;
  throw invalidInput(result.error.issues.flatMap(toViolations).slice(0, maxViolations));
}

/** Finds text that no database column can hold (NUL, half a surrogate pair) and nesting without end. */
function findUnstorable(root: unknown): Violation[] {
  const violations: Violation[] = [];
  const path: (string | number)[] = [];
  const report = (explanation: Explanation): void => {
    violations.push({ pointer: toPointer(path), ...explanation });
  };
  // Recursion is safe: it goes no deeper than maxDepth.
  const visit = (value: unknown): void => {
    if (violations.length >= maxViolations) return;
    if (typeof value === "string") {
      if (value.includes("\0")) report(because("nul_character"));
      else if (!value.isWellFormed()) report(because("half_surrogate"));
      return;
    }
    if (typeof value !== "object" || value === null) return;
    if (path.length >= maxDepth) {
      report(because("nested_too_deeply"));
      return;
    }
    if (Array.isArray(value) && value.length > maxEntries) {
      // Before the schema checks each entry: a million invalid ones would give millions of violations.
      report(because("too_many_entries", { max: maxEntries }));
      return;
    }
    for (const [key, child] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      path.push(key);
      visit(child);
      path.pop();
    }
  };
  visit(root);
  return violations;
}

/** One zod issue in words; a union's issues count as one. */
function toViolations(issue: z.core.$ZodIssue): Violation[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      pointer: toPointer([...(issue.path as (string | number)[]), key]),
      ...because("unknown_field"),
    }));
  return [{ pointer: toPointer(issue.path as (string | number)[]), ...explain(issue) }];
}

/** Longer names are cut in pointers; the contract has none. */
const maxNameLength = 100;

/** RFC 6901: `~` and `/` inside a name are escaped. */
function toPointer(path: readonly (string | number)[]): string {
  return path
    .map((part) => String(part))
    .map((name) => (name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…`.toWellFormed() : name))
    .map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

function explain(issue: z.core.$ZodIssue): Pick<Violation, "detail" | "cause"> {
  switch (issue.code) {
    case "invalid_type": {
      const type = articled(issue.expected);
      return issue.message.endsWith("received undefined")
        ? because("required", { type })
        : because("wrong_type", { type });
    }
    case "invalid_value":
      return because("not_a_choice", { choices: issue.values.map(String) });
    case "too_big": {
      const max = Number(issue.maximum);
      if (issue.origin === "string") return because("too_many_characters", { max });
      return issue.origin === "array"
        ? because("too_many_entries", { max })
        : because("number_too_large", { max });
    }
    case "too_small":
      return issue.message.startsWith("must ")
        ? { detail: issue.message }
        : because("number_too_small", { min: Number(issue.minimum) });
    default:
      return { detail: issue.message };
  }
}

function articled(type: string): string {
  if (type === "int") return "a whole number";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
