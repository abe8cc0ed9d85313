import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { createEventReader } from "../../../shared/server-sent-events.ts";
import { actAs } from "../../platform/auth/audience.ts";

/** An operation returned an error; the message is for the assistant and its user. */
export class Refusal extends Error {}

/** An event of a stream, with its JSON. */
interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Calls an operation of the API on behalf of the caller. @returns the JSON of the response; of a stream its events. */
export type Ask = (
  method: "GET" | "POST",
  path: string,
  input?: {
    readonly body?: unknown;
    readonly query?: Readonly<Record<string, string | undefined>>;
    /** The tool's inputs by the JSON pointers that the API's errors name; by default the pointer's own name. */
    readonly inputs?: Readonly<Record<string, string>>;
    /** Called with each event of a stream as it arrives. */
    readonly onEvent?: (event: StreamEvent) => void;
  },
) => Promise<unknown>;

/**
 * Creates a function that sends requests to this server's own API with the caller's token, so that permissions, limits,
 * validation and logging apply to assistants as to every client.
 * @param version the API version to use.
 * @param closed aborted when the caller's connection is closed, which ends the requests in flight.
 */
export function askAs(
  app: FastifyInstance,
  request: FastifyRequest,
  version: string,
  closed: AbortSignal,
): Ask {
  return async (method, path, { body, query = {}, inputs = {}, onEvent } = {}) => {
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
          // The signal of `inject` has no effect once the body was read.
          payloadAsStream: true,
        }),
    );
    const end = () => answer.raw.res.destroy();
    closed.addEventListener("abort", end);
    if (closed.aborted) end();
    try {
      const stream = answer.stream();
      if (answer.statusCode >= 400)
        throw new Refusal(detailOf(await text(stream), answer.statusCode, inputs));
      return String(answer.headers["content-type"]).startsWith("text/event-stream")
        ? await readEvents(stream, onEvent)
        : JSON.parse(await text(stream));
    } finally {
      closed.removeEventListener("abort", end);
    }
  };
}

async function readEvents(
  stream: Readable,
  onEvent: ((event: StreamEvent) => void) | undefined,
): Promise<StreamEvent[]> {
  const read = createEventReader();
  const events: StreamEvent[] = [];
  for await (const part of stream.setEncoding("utf8"))
    for (const { event, data } of read(part)) {
      const parsed = { event, data: JSON.parse(data) };
      events.push(parsed);
      onEvent?.(parsed);
    }
  return events;
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
