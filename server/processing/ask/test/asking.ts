import type { AskEvent } from "../../../../contract/ask/ask.ts";
import { askEvents } from "../../../../contract/ask/ask.ts";
import { createEventReader } from "../../../../shared/server-sent-events.ts";
import type { TestApp } from "../../../../test/support/app.ts";
import {
  type ModelBehaviour,
  type ModelServerRequest,
  minutes,
  sayJson,
} from "../../../../test/support/model-server.ts";

/** A response to a question. */
export interface Asked {
  readonly status: number;
  readonly events: AskEvent[];
  /** Of an error before the stream. */
  readonly detail: string;
}

/** Sends a question. @param onEvent called with each event as it arrives. */
export async function askQuestion(
  app: Pick<TestApp, "url">,
  token: string,
  body: Record<string, unknown>,
  { onEvent, signal }: { onEvent?: (event: AskEvent) => Promise<void> | void; signal?: AbortSignal } = {},
): Promise<Asked> {
  const response = await fetch(`${app.url}/_/api/v1/ask`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    // A test that waits for longer has failed.
    signal: AbortSignal.any([AbortSignal.timeout(30_000), ...(signal === undefined ? [] : [signal])]),
  });
  if (response.status !== 200 || response.body === null)
    return {
      status: response.status,
      events: [],
      detail: ((await response.json()) as { detail: string }).detail,
    };
  const events: AskEvent[] = [];
  const read = createEventReader();
  for await (const part of response.body.pipeThrough(new TextDecoderStream()))
    for (const { event: name, data } of read(part)) {
      const event = parseEvent(name as AskEvent["event"], data);
      events.push(event);
      await onEvent?.(event);
    }
  return { status: 200, events, detail: "" };
}

/** An event that is as the contract says. */
function parseEvent(event: AskEvent["event"], data: string): AskEvent {
  return { event, data: askEvents[event].parse(JSON.parse(data)) } as AskEvent;
}

export function only<E extends AskEvent["event"]>(
  { events }: Asked,
  event: E,
): Extract<AskEvent, { event: E }>["data"][] {
  return events.flatMap((one) => (one.event === event ? [one.data as never] : []));
}

/** A line of a passage in a request, with the passage's number. */
export interface SeenLine {
  readonly passage: number;
  readonly text: string;
}

/** The lines that a request shows to the model. */
export function linesOf({ user }: Pick<ModelServerRequest, "user">): SeenLine[] {
  let passage = 0;
  return user.split("\n").flatMap((line) => {
    passage = Number(/^Passage (\d+), from /.exec(line)?.[1] ?? passage);
    const text = /^\d\d:\d\d:\d\d [^:]*: (.*)$/.exec(line)?.[1];
    return text === undefined ? [] : [{ passage, text }];
  });
}

interface Said {
  readonly text?: unknown;
  readonly passage?: unknown;
  readonly quote?: unknown;
}

/** A model that finds no better searches, and answers with the statements of a function. */
export function answering(
  statements: (lines: SeenLine[], request: ModelServerRequest) => readonly Said[],
): ModelBehaviour {
  return (request, response) => {
    if (request.wanted.includes("searches")) return sayJson({ searches: [] })(request, response);
    if (!request.wanted.includes("statements")) return minutes(request, response);
    return sayJson({ statements: statements(linesOf(request), request) })(request, response);
  };
}

/** A model that quotes each line with a word. */
export const quoting = (word: string): ModelBehaviour =>
  answering((lines) =>
    lines
      .filter(({ text }) => text.includes(word))
      .map(({ passage, text }) => ({ text: `It was said: ${text}`, passage, quote: text })),
  );

/** A model that writes one statement, and the next one only when it is asked to. */
export function slowly(): { behaviour: ModelBehaviour; more: () => void; closed: Promise<void> } {
  const more = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  return {
    more: more.resolve,
    closed: closed.promise,
    behaviour: async (request, response) => {
      if (request.wanted.includes("searches")) return sayJson({ searches: [] })(request, response);
      response.on("close", closed.resolve);
      const [line] = linesOf(request);
      const chunk = (content: string) =>
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const said = (text: string) => JSON.stringify({ text, passage: line?.passage, quote: line?.text });
      chunk(`{"statements": [${said("First.")},`);
      await more.promise;
      if (!response.destroyed) chunk(`${said("Second.")},`);
    },
  };
}
