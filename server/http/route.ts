import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Violation } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { isRedirectResponse, isTextResponse } from "../../contract/operation.ts";
import { describeGate, isOpen, type VersionName } from "../../contract/versions.ts";
import { refusal } from "../access/permissions.ts";
import type { Principal } from "../access/principal.ts";
import { validateBody } from "./body-rules.ts";
import { invalidInput, ProblemError } from "./problem.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who is calling; set once the token was checked. */
    principal: Principal;
    /** The API version the request speaks; null in the management API. */
    apiVersion: VersionName | null;
    /** For routes that ask for it: of the recording in the address; null when the caller can't see it. */
    transcriptVersion: number | null;
  }
}

/** Text or bytes that are sent as they are: JSON as PostgreSQL wrote it, a transcript, or a file as it is written. */
export class Ready {
  readonly body: string | Buffer | Readable;
  readonly headers: Readonly<Record<string, string>>;
  constructor(body: string | Buffer | Readable, headers: Record<string, string> = {}) {
    this.body = body;
    this.headers = headers;
  }
}

type Params<O extends Operation> = O["params"] extends z.ZodObject
  ? z.output<O["params"]>
  : Record<string, never>;
type Body<O extends Operation> = O["body"] extends z.ZodObject ? z.output<O["body"]> : Record<string, never>;
type Query<O extends Operation> = O["query"] extends z.ZodObject
  ? z.output<O["query"]>
  : Record<string, never>;
type Answer<O extends Operation> = O["response"] extends z.ZodType ? z.input<O["response"]> | Ready : Ready;

/** What a handler gets: everything checked, nothing else. */
export interface Call<O extends Operation> {
  readonly principal: Principal;
  readonly params: Params<O>;
  readonly body: Body<O>;
  readonly query: Query<O>;
  readonly request: FastifyRequest;
}

/** Where features register their operations. */
export interface Api {
  readonly app: FastifyInstance;
  /** What of an operation's path the scope of `app` adds by itself. */
  readonly prefix: string;
  /** What has been registered so far: the OpenAPI documents show this and nothing else. */
  readonly operations: Operation[];
  /** Also check what is sent as it is against the contract; for tests, since it costs the speed it is there for. */
  readonly checkReady: boolean;
}

export interface RouteOptions {
  /** Bytes; default 1 MiB. */
  readonly bodyLimit?: number;
  /** Have the transcript version of the recording in the address found along with the token. */
  readonly needsTranscriptVersion?: boolean;
  /**
   * Rules that need the database or the caller. Asked also when the body breaks its schema, with what it holds, so
   * that all faults are named at once.
   */
  readonly findFaults?: (
    principal: Principal,
    body: unknown,
    params: Readonly<Record<string, string>>,
  ) => Promise<Violation[]>;
  /** A property of the body that is null has been given, rather than left out. */
  readonly keepNulls?: boolean;
}

/**
 * Registers one operation of the contract: its path and its gate come from the operation, input is checked before
 * the handler runs and output before it leaves.
 */
export function route<O extends Operation>(
  api: Api,
  operation: O,
  handler: (call: Call<O>) => Promise<Answer<O>>,
  options: RouteOptions = {},
): void {
  api.operations.push(operation);
  api.app.route({
    method: operation.method,
    url: operation.path.slice(api.prefix.length),
    ...(options.bodyLimit === undefined ? {} : { bodyLimit: options.bodyLimit }),
    config: { operation, needsTranscriptVersion: options.needsTranscriptVersion ?? false },
    handler: async (request, reply) => {
      const body = operation.body === undefined ? {} : await checkBody(operation.body, request, options);
      const query = operation.query === undefined ? {} : checkQuery(operation.query, request.query);
      checkPermission(operation, request.principal);
      const call = { principal: request.principal, params: request.params, body, query, request };
      const answer = await handler(call as Call<O>);
      return send(api, operation, reply, answer);
    },
  });
}

/** @throws ProblemError `forbidden` when this kind of caller may not use the operation at all. */
function checkPermission(operation: Operation, principal: Principal): void {
  const reason = refusal(operation.permission, principal);
  if (reason !== null) throw new ProblemError("forbidden", reason);
}

async function checkBody(schema: z.ZodObject, request: FastifyRequest, options: RouteOptions) {
  const { findFaults, keepNulls } = options;
  const violations: Violation[] = [];
  let body: unknown;
  try {
    body = validateBody(schema, request.body, keepNulls);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.violations === undefined) throw error;
    violations.push(...error.violations);
  }
  if (findFaults !== undefined) {
    const params = request.params as Record<string, string>;
    const found = await findFaults(request.principal, body ?? request.body, params);
    // What lies inside something that is wrong as a whole says nothing more.
    const isNamed = ({ pointer }: Violation) =>
      violations.some((other) => pointer === other.pointer || pointer.startsWith(`${other.pointer}/`));
    violations.push(...found.filter((violation) => !isNamed(violation)));
  }
  if (violations.length > 0) throw invalidInput(violations);
  return body;
}

/** Empty values count as absent, as in filters. @throws ProblemError `invalid_input` naming every wrong one. */
function checkQuery(schema: z.ZodObject, query: unknown) {
  const given = Object.entries((query ?? {}) as Record<string, unknown>).filter(([, value]) => value !== "");
  return validateBody(schema, Object.fromEntries(given));
}

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: Operation;
    needsTranscriptVersion?: boolean;
  }
}

/**
 * Checks what the address says, after version, token and rate limit, and before the body is read.
 * @param version null where there are no versions.
 * @throws ProblemError `not_in_version` for a closed gate, `not_found` for parameters that can name nothing.
 */
export function checkPath(request: FastifyRequest, version: VersionName | null): void {
  const operation = request.routeOptions.config.operation;
  if (operation === undefined) return;
  if (version !== null && !isOpen(operation.gate, version)) {
    throw new ProblemError(
      "not_in_version",
      `${operation.summary} is not part of version ${version}; it exists in ${describeGate(operation.gate)}`,
    );
  }
  if (operation.params === undefined) return;
  const result = operation.params.safeParse(request.params);
  if (!result.success) {
    const name = String(result.error.issues[0]?.path[0] ?? "address");
    throw new ProblemError(
      "not_found",
      `nothing is here: ${name} ${result.error.issues[0]?.message ?? "is not valid"}`,
    );
  }
  request.params = lowerCaseIds(result.data);
}

/** UUIDs are compared as text further on; the database writes them in lower case. */
function lowerCaseIds(params: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      name.endsWith("_id") && typeof value === "string" ? value.toLowerCase() : value,
    ]),
  );
}

function send(api: Api, operation: Operation, reply: FastifyReply, answer: unknown): FastifyReply {
  const { response } = operation;
  if (answer instanceof Ready) {
    reply.headers(answer.headers);
    if (isRedirectResponse(response)) return reply.code(302).send();
    if (isTextResponse(response))
      return reply
        .type(answer.headers["content-type"] ?? `${response.contentType}; charset=utf-8`)
        .send(answer.body);
    if (api.checkReady) response.parse(JSON.parse(answer.body.toString()));
    return reply.type("application/json; charset=utf-8").send(answer.body);
  }
  if (!(response instanceof z.ZodType)) throw new Error(`${operation.id} must answer with Ready`);
  return reply.type("application/json; charset=utf-8").send(JSON.stringify(response.parse(answer)));
}
