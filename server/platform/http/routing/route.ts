import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Violation } from "../../../../contract/errors.ts";
import type { Operation } from "../../../../contract/operation.ts";
import { isRedirectResponse, isTextResponse } from "../../../../contract/operation.ts";
import { describeGate, isOpen, type VersionName } from "../../../../contract/versions.ts";
import { proofRefusal, refusal } from "../../auth/permissions.ts";
import type { Principal } from "../../auth/principal.ts";
import type { LinkSigner } from "../../crypto/link-signer.ts";
import { validateBody } from "../body/body-rules.ts";
import { invalidInput, ProblemError } from "../errors/problem.ts";
import { carryParameters, type ListParameters, resumeList } from "./list-cursor.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The caller; set once authenticated. */
    principal: Principal;
    /** The request's API version; null in the management API. */
    apiVersion: VersionName | null;
  }
}

/** A response that is sent unchanged: JSON from PostgreSQL, a transcript, or a streamed file. */
export class Ready {
  readonly body: string | Buffer | Readable;
  readonly headers: Readonly<Record<string, string>>;
  /** 304: the client has this version already. */
  readonly status: 200 | 304;
  constructor(
    body: string | Buffer | Readable,
    headers: Record<string, string> = {},
    status: 200 | 304 = 200,
  ) {
    this.body = body;
    this.headers = headers;
    this.status = status;
  }
}

/** A page of a list whose items are JSON already. */
export class ReadyPage {
  /** Where the page ended; null on the last page. */
  readonly cursor: string | null;
  /** Members of the response besides `cursor`, as JSON text. */
  readonly members: string;
  readonly headers: Record<string, string>;
  constructor(cursor: string | null, members: string, headers: Record<string, string> = {}) {
    this.cursor = cursor;
    this.members = members;
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
type Result<O extends Operation> = O["response"] extends z.ZodType
  ? z.input<O["response"]> | Ready | ReadyPage
  : Ready;

/** A handler's input, validated. */
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
  /** Path prefix that the scope of `app` adds. */
  readonly prefix: string;
  /** Registered operations, which the OpenAPI documents are generated from. */
  readonly operations: Operation[];
  /**
   * Finds the recording that the caller can see and that another system knew by this id. Called when there is nothing at
   * an id.
   */
  readonly resolveOldId?: (principal: Principal, oldId: string) => Promise<string | null>;
  /** Also validates `Ready` responses against the contract. Only for tests, because it is slow. */
  readonly checkReady: boolean;
  /** Signs the parameters that cursors carry. */
  readonly signer: LinkSigner;
}

export interface RouteOptions {
  /** Bytes; default 1 MiB. */
  readonly bodyLimit?: number;
  /**
   * Rules that need the database, the caller or the version (null in the management API). Also run when the body breaks its
   * schema, with the raw body, so that all violations are listed at once.
   */
  readonly findViolations?: (
    principal: Principal,
    body: unknown,
    params: Readonly<Record<string, string>>,
    version: VersionName | null,
  ) => Promise<Violation[]>;
  /** Treats null properties of the body as given, not as omitted. */
  readonly keepNulls?: boolean;
}

/**
 * Registers one operation of the contract, with its path and version gate. Validates input before the handler runs, and
 * output before it is sent.
 */
export function route<O extends Operation>(
  api: Api,
  operation: O,
  handler: (call: Call<O>) => Promise<Result<O>>,
  options: RouteOptions = {},
): void {
  api.operations.push(operation);
  api.app.route({
    method: operation.method,
    url: operation.path.slice(api.prefix.length),
    ...(options.bodyLimit === undefined ? {} : { bodyLimit: options.bodyLimit }),
    config: { operation },
    handler: async (request, reply) => {
      const { body, query } = await checkInput(api, operation, request, options);
      const call = { principal: request.principal, params: request.params, body, query, request };
      const result = await handler(call as Call<O>).catch((error: unknown) =>
        retryWithNewId(api, call as Call<O>, error, handler),
      );
      const page = isList(operation) ? withParameters(api, operation, { ...body, ...query }, result) : result;
      return send(api, operation, reply, page);
    },
  });
}

/** Repeats a call whose recording was not found with the recording that once had this id. @throws the error otherwise. */
async function retryWithNewId<O extends Operation>(
  api: Api,
  call: Call<O>,
  error: unknown,
  handler: (call: Call<O>) => Promise<Result<O>>,
): Promise<Result<O>> {
  const { recording_id: oldId } = call.params as Record<string, unknown>;
  // What is deleted has to be named exactly.
  if (call.request.method === "DELETE") throw error;
  if (!(error instanceof ProblemError) || error.code !== "not_found" || typeof oldId !== "string")
    throw error;
  const id = await api.resolveOldId?.(call.principal, oldId);
  if (!id) throw error;
  return handler({ ...call, params: { ...call.params, recording_id: id } });
}

/** @throws ProblemError `forbidden` when this kind of caller may not use the operation at all. */
function checkPermission(operation: Operation, principal: Principal): void {
  const reason = refusal(operation.permission, principal);
  if (reason !== null) throw new ProblemError("forbidden", reason);
}

/** Whether an operation returns pages, which a cursor continues. */
function isList({ body, query }: Operation): boolean {
  return "cursor" in { ...body?.shape, ...query?.shape };
}

async function checkInput(api: Api, operation: Operation, request: FastifyRequest, options: RouteOptions) {
  const resume = (given: unknown): unknown =>
    isList(operation) ? resumeList(operation, api.signer, given) : given;
  const { body, query } = operation;
  return {
    body: body === undefined ? {} : await checkBody(body, resume(request.body), request, options),
    query: query === undefined ? {} : checkQuery(query, resume(request.query)),
  };
}

/** The page with a cursor that carries the call's parameters. */
function withParameters(
  api: Api,
  operation: Operation,
  parameters: ListParameters,
  page: unknown,
): Ready | Record<string, unknown> {
  const { cursor, ...rest } = page as ReadyPage | { readonly cursor: string | null };
  const next = cursor === null ? null : carryParameters(operation, api.signer, cursor, parameters);
  if (page instanceof ReadyPage)
    return new Ready(`{"cursor":${JSON.stringify(next)},${page.members}}`, page.headers);
  return { ...rest, cursor: next };
}

async function checkBody(
  schema: z.ZodObject,
  given: unknown,
  request: FastifyRequest,
  options: RouteOptions,
): Promise<Record<string, unknown>> {
  const { findViolations, keepNulls } = options;
  const violations: Violation[] = [];
  let body: Record<string, unknown> | undefined;
  try {
    body = validateBody(schema, given, keepNulls);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.violations === undefined) throw error;
    violations.push(...error.violations);
  }
  if (findViolations !== undefined) {
    const params = request.params as Record<string, string>;
    const found = await findViolations(request.principal, body ?? given, params, request.apiVersion);
    // Violations inside an invalid value add nothing.
    const isNamed = ({ pointer }: Violation) =>
      violations.some((other) => pointer === other.pointer || pointer.startsWith(`${other.pointer}/`));
    violations.push(...found.filter((violation) => !isNamed(violation)));
  }
  if (body === undefined || violations.length > 0) throw invalidInput(violations);
  return body;
}

/** Empty values count as absent, as in filters. @throws ProblemError `invalid_input` naming every violation. */
function checkQuery(schema: z.ZodObject, query: unknown) {
  const given = Object.entries((query ?? {}) as Record<string, unknown>).filter(([, value]) => value !== "");
  return validateBody(schema, Object.fromEntries(given));
}

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

/**
 * Checks path and permission, after version, token and rate limit, and before the body is read.
 * @param version null in the management API.
 * @throws ProblemError `not_in_version` for a closed gate, `not_found` for malformed parameters, `forbidden`.
 */
export function checkOperation(request: FastifyRequest, version: VersionName | null): void {
  const operation = request.routeOptions.config.operation;
  if (operation === undefined) return;
  if (version !== null && !isOpen(operation.gate, version)) {
    throw new ProblemError(
      "not_in_version",
      `${operation.summary} is not part of version ${version}; it exists in ${describeGate(operation.gate)}`,
    );
  }
  if (operation.params !== undefined) request.params = checkParams(operation.params, request.params);
  checkPermission(operation, request.principal);
  const unproven = proofRefusal(operation, request.principal);
  if (unproven !== null) throw new ProblemError(unproven.code, unproven.detail);
}

function checkParams(schema: z.ZodObject, params: unknown): Record<string, unknown> {
  const result = schema.safeParse(params);
  if (result.success) return lowerCaseIds(result.data);
  const name = String(result.error.issues[0]?.path[0] ?? "path");
  throw new ProblemError(
    "not_found",
    `not found: ${name} ${result.error.issues[0]?.message ?? "is not valid"}`,
  );
}

/** Handlers compare UUIDs as text, and the database returns them in lower case. */
function lowerCaseIds(params: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      name.endsWith("_id") && typeof value === "string" ? value.toLowerCase() : value,
    ]),
  );
}

function send(api: Api, operation: Operation, reply: FastifyReply, result: unknown): FastifyReply {
  const { response } = operation;
  if (result instanceof Ready) {
    reply.headers(result.headers);
    if (isRedirectResponse(response)) return reply.code(302).send();
    if (result.status === 304) return reply.code(304).send();
    if (isTextResponse(response))
      return reply
        .type(result.headers["content-type"] ?? `${response.contentType}; charset=utf-8`)
        .send(result.body);
    if (api.checkReady) response.parse(JSON.parse(result.body.toString()));
    return reply.type("application/json; charset=utf-8").send(result.body);
  }
  if (!(response instanceof z.ZodType)) throw new Error(`${operation.id} must return Ready`);
  return reply.type("application/json; charset=utf-8").send(JSON.stringify(response.parse(result)));
}
