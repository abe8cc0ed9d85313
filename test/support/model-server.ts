import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

/** A parsed chat completion request. */
export interface ModelServerRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the request.
  readonly body: Record<string, any>;
  readonly system: string;
  /** The first user message: data and task. */
  readonly user: string;
  /** Required property names of the response, from the schema wherever it was sent. */
  readonly wanted: readonly string[];
}

/** How the server responds to one request, or fails on its connection. */
export type ModelBehaviour = (request: ModelServerRequest, response: ServerResponse) => void | Promise<void>;

export interface ModelServer {
  readonly url: string;
  /** All requests, in order. */
  readonly requests: ModelServerRequest[];
  /** Behaviours for the next requests; then `minutes` again. */
  script(...behaviours: ModelBehaviour[]): void;
  /** Behaviour for all other requests. */
  otherwise(behaviour: ModelBehaviour): void;
  /** Resets scripts, requests and `otherwise`. */
  reset(): void;
}

/**
 * A real HTTP server for `POST /v1/chat/completions`, with streaming and JSON schema. Its simple model creates an action
 * item for each transcript line that contains "will", so that tests can compare results with what was said. Stops with
 * the calling test file.
 */
export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  let scripted: ModelBehaviour[] = [];
  let standard: ModelBehaviour = minutes;
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: Error) => {
      if (!response.headersSent) reply(response, 400, { error: { message: error.message } });
    });
  });
  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    requests.push(request);
    await (scripted.shift() ?? standard)(request, response);
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        // Including requests that get no response.
        server.closeAllConnections();
      }),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (...behaviours) => void scripted.push(...behaviours),
    otherwise: (behaviour) => {
      standard = behaviour;
    },
    reset: () => {
      scripted = [];
      standard = minutes;
      requests.length = 0;
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ModelServerRequest> {
  const parts: Buffer[] = [];
  for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
  if (incoming.method !== "POST") throw new Error(`the method is ${incoming.method}`);
  const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
  if (typeof body.model !== "string") throw new Error("the request has no model");
  const roles = body.messages.map((message: { role: string }) => message.role).join(" ");
  if (!/^system user( assistant user)*$/.test(roles)) throw new Error(`the roles are ${roles}`);
  if ("tools" in body) throw new Error("the request must not have tools");
  const format = body.response_format;
  if (format?.type === "json_schema" && !/^[a-zA-Z0-9_-]{1,64}$/.test(format.json_schema?.name ?? ""))
    throw new Error("Invalid 'response_format.json_schema.name'");
  const system: string = body.messages[0].content;
  const schema = format?.json_schema?.schema ?? JSON.parse(system.slice(system.lastIndexOf("\n{") + 1));
  if (format?.type === "json_schema") checkStrict(schema);
  return {
    path: incoming.url ?? "",
    authorization: incoming.headers.authorization,
    body,
    system,
    user: body.messages[1].content,
    wanted: Object.keys(schema.properties),
  };
}

/** What strict mode requires of every object in a schema. Source: OpenAI, Structured Outputs, "Supported schemas". */
function checkStrict(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  const { type, properties, required, additionalProperties } = schema as Record<string, unknown>;
  if (type === "object") {
    const names = Object.keys(properties as object);
    const isStrict =
      additionalProperties === false && names.every((name) => (required as string[]).includes(name));
    if (!isStrict) throw new Error("Invalid schema for response_format: every property must be required");
  }
  for (const value of Object.values(schema)) checkStrict(value);
}

/** Responds with JSON, or with raw text. */
export function reply(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    "content-type": typeof body === "string" ? "text/html" : "application/json",
    ...headers,
  });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

interface SayOptions {
  readonly finish?: string | null;
  readonly withUsage?: boolean;
  /** Respond without streaming, although the request asks for it. */
  readonly whole?: boolean;
}

/** Sends a text as the request asks: streamed in small chunks, or at once. */
export const say =
  (text: string, { finish = "stop", withUsage = true, whole = false }: SayOptions = {}): ModelBehaviour =>
  ({ body }, response) => {
    const usage = {
      prompt_tokens: Math.ceil(JSON.stringify(body.messages).length / 4),
      completion_tokens: Math.ceil(text.length / 4),
    };
    const base = { id: "chatcmpl-1", created: 1, model: body.model };
    if (!body.stream || whole) {
      const choices = [{ index: 0, message: { role: "assistant", content: text }, finish_reason: finish }];
      return reply(response, 200, {
        ...base,
        object: "chat.completion",
        choices,
        ...(withUsage ? { usage } : {}),
      });
    }
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    const send = (chunk: object) =>
      response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", ...chunk })}\n\n`);
    response.write(": keep-alive\n\n");
    send({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] });
    // Of a long text not thousands.
    const size = Math.max(40, Math.ceil(text.length / 100));
    for (let from = 0; from < text.length; from += size)
      send({
        choices: [{ index: 0, delta: { content: text.slice(from, from + size) }, finish_reason: null }],
      });
    if (finish !== null) send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
    if (withUsage && body.stream_options?.include_usage) send({ choices: [], usage });
    response.end("data: [DONE]\n\n");
  };

export const sayJson = (value: unknown, options: SayOptions = {}): ModelBehaviour =>
  say(JSON.stringify(value), options);

/** A line of the transcript in the prompt. */
interface SeenLine {
  readonly number: number;
  readonly speaker: string;
  readonly text: string;
}

/** The transcript lines of a request; those of notes have no time. */
export function seenLines(user: string): SeenLine[] {
  return [...user.matchAll(/^\[(\d+)\] \d\d:\d\d:\d\d (.*?): (.*)$/gm)].map(
    ([, number, speaker = "", text = ""]) => ({
      number: Number(number),
      speaker,
      text,
    }),
  );
}

/** The numbered notes of a request. */
function seenNotes(user: string): { readonly note: number; readonly text: string }[] {
  return [...user.matchAll(/^\[(\d+)\] (?!\d\d:\d\d:\d\d )(.*)$/gm)].map(([, note, text = ""]) => ({
    note: Number(note),
    text,
  }));
}

/** The simple model's output for a request. */
export function think({ user, wanted }: ModelServerRequest): Record<string, unknown> {
  const lines = seenLines(user);
  const keys = new Map([...user.matchAll(/^(P\d+) = (.*)$/gm)].map(([, key, name]) => [name, key]));
  const notes = seenNotes(user);
  const proof = lines.length === 0 ? { note: 1 } : proofIn(lines);
  const type = /or null when none fits clearly: ("(?:[^"\\]|\\.)*")/.exec(user)?.[1];
  const answers: Record<string, unknown> = {
    summary: [
      {
        heading: null,
        text: `Spoken of: ${lines.length > 0 ? `${lines.length} lines` : `${notes.length} notes`}.`,
        ...proof,
      },
    ],
    title: "Harbour contract",
    meeting_type: type === undefined ? null : JSON.parse(type),
    action_items: lines
      .filter(({ text }) => /\bwill\b/.test(text))
      .map(({ number, speaker, text }) => ({
        text: `Task: ${text}`,
        quote: text,
        line: number,
        assignee: keys.get(speaker) ?? null,
      })),
    chapters: lines
      .filter(({ text }) => /^Next: /.test(text))
      .map(({ number, text }) => ({ title: text.replace(/^Next: /, ""), line: number, quote: text })),
    notes:
      lines.length > 0
        ? lines.map(({ speaker, text, number }) => ({
            text: `${speaker}: ${text}`,
            quote: text,
            line: number,
          }))
        : notes.slice(0, Math.ceil(notes.length / 2)),
    columns: ["Who", "What"],
    rows: [{ cells: ["Anna", "signs | seals"], ...proof }],
    items: itemsOf(user).map((item) => ({ ...item, ...proof })),
  };
  return Object.fromEntries(wanted.map((name) => [name, answers[name]]));
}

/** What proves everything: the longest line, or the first four where all are too short to prove anything. */
function proofIn(lines: readonly SeenLine[]): { readonly quote: string; readonly line: number } {
  const [longest] = lines.toSorted((a, b) => b.text.length - a.text.length);
  const quoted = longest !== undefined && longest.text.length > 12 ? [longest] : lines.slice(0, 4);
  return { quote: quoted.map(({ text }) => text).join(" "), line: quoted[0]?.number ?? 0 };
}

function itemsOf(user: string): object[] {
  if (/questions with their answers/.test(user)) return [{ question: "Who signs?", answer: "Anna." }];
  if (/with headings where they help/.test(user))
    return [{ heading: null, text: "A **text** of the meeting." }];
  return /whether it is done/.test(user)
    ? [
        { text: "Sign", checked: true },
        { text: "Send", checked: false },
      ]
    : [{ text: "One" }, { text: "Two" }];
}

/** Responds as a working server. */
export const minutes: ModelBehaviour = (request, response) => sayJson(think(request))(request, response);

/** Responds with an error status. */
export const refuse =
  (
    status: number,
    body: unknown = { error: { message: `status ${status}` } },
    headers = {},
  ): ModelBehaviour =>
  (_request, response) =>
    reply(response, status, body, headers);

/** Never responds. */
export const neverAnswer: ModelBehaviour = () => {};

/** Starts a stream and then stalls. */
export const stall: ModelBehaviour = (_request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: '{"summary' } }] })}\n\n`);
};

/** Resets the connection within a stream. */
export const cutShort: ModelBehaviour = async (request, response) => {
  await stall(request, response);
  setImmediate(() => response.destroy());
};

/** Sends an error within a stream. */
export const failInStream: ModelBehaviour = async (request, response) => {
  await stall(request, response);
  response.end(
    `data: ${JSON.stringify({ error: { message: "the engine died", type: "server_error" } })}\n\n`,
  );
};

/** Streams until the client disconnects. */
export const flood: ModelBehaviour = (_request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const block = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "x".repeat(60_000) } }] })}\n\n`;
  const more = (): void => {
    while (!response.destroyed && response.write(block));
  };
  response.on("drain", more);
  more();
};

/** Rejects a request feature like a server that does not support it. */
export const without =
  (isRefused: (body: ModelServerRequest["body"]) => boolean, message: string): ModelBehaviour =>
  (request, response) =>
    isRefused(request.body) ? reply(response, 400, { error: { message } }) : minutes(request, response);
