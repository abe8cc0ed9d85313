import type { FastifyInstance, FastifyRequest } from "fastify";
import { actAs } from "../../platform/auth/audience.ts";

/** An operation returned an error; the message is for the assistant and its user. */
export class Refusal extends Error {}

/** Calls an operation of the API on behalf of the caller. */
export type Ask = (
  method: "GET" | "POST",
  path: string,
  input?: {
    readonly body?: unknown;
    readonly query?: Readonly<Record<string, string | undefined>>;
    /** The tool's inputs by the JSON pointers that the API's errors name; by default the pointer's own name. */
    readonly inputs?: Readonly<Record<string, string>>;
  },
) => Promise<unknown>;

/**
 * Creates a function that sends requests to this server's own API with the caller's token, so that permissions, limits,
 * validation and logging apply to assistants as to every client.
 * @param version the API version to use.
 */
export function askAs(app: FastifyInstance, request: FastifyRequest, version: string): Ask {
  return async (method, path, { body, query = {}, inputs = {} } = {}) => {
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    // The caller's token may be restricted to this resource. The request is sent when it is awaited.
    const answer = await actAs(
      "mcp",
      async () =>
        await app.inject({
          method,
          url: path,
          query: Object.fromEntries(given),
          remoteAddress: request.ip,
          headers: {
            authorization: request.headers.authorization ?? "",
            "public-api-version": version,
            "user-agent": request.headers["user-agent"] ?? "",
            host: request.host,
          },
          ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
        }),
    );
    if (answer.statusCode >= 400) throw new Refusal(detailOf(answer.body, answer.statusCode, inputs));
    return answer.json();
  };
}

/** The reason for the assistant: the violations by the tool's own inputs, which the problem's detail only summarizes. */
function detailOf(body: string, status: number, inputs: Readonly<Record<string, string>>): string {
  try {
    const problem = JSON.parse(body) as {
      detail?: string;
      violations?: readonly { pointer: string; detail: string }[];
    };
    const violations = (problem.violations ?? []).map(
      ({ pointer, detail }) => `${inputs[pointer] ?? pointer.slice(1)} ${detail}`,
    );
    if (violations.length > 0) return violations.join("; ");
    return problem.detail ?? `the server returned status ${status}`;
  } catch {
    return `the server returned status ${status}`;
  }
}
