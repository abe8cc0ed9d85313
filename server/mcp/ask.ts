import type { FastifyInstance, FastifyRequest } from "fastify";

/** An operation refused; the message is for the assistant and the person behind it. */
export class Refusal extends Error {}

/** Asks an operation of the API in the name of the caller. */
export type Ask = (
  method: "GET" | "POST",
  path: string,
  input?: { readonly body?: unknown; readonly query?: Readonly<Record<string, string | undefined>> },
) => Promise<unknown>;

/**
 * What assistants do goes through the same operations as everything else, so rights, limits, validation and the log are
 * theirs: requests are handed to the server itself, with the caller's own token.
 * @param version of the API to speak.
 */
export function askAs(app: FastifyInstance, request: FastifyRequest, version: string): Ask {
  return async (method, path, { body, query = {} } = {}) => {
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const answer = await app.inject({
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
    });
    if (answer.statusCode >= 400) throw new Refusal(detailOf(answer.body, answer.statusCode));
    return answer.json();
  };
}

function detailOf(body: string, status: number): string {
  try {
    const problem = JSON.parse(body) as {
      detail?: string;
      violations?: readonly { pointer: string; detail: string }[];
    };
    const faults = (problem.violations ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`);
    return [problem.detail ?? `the server answered ${status}`, ...faults].join("; ");
  } catch {
    return `the server answered ${status}`;
  }
}
