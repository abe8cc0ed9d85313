import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { listen, readWav, type Tone, type Wav } from "./wav.ts";

/** A parsed transcription request. */
interface SpeechRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  /** Form fields beside the file. */
  readonly fields: Readonly<Record<string, string>>;
  /** The values of fields that are lists. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly fileName: string;
  readonly audio: Wav;
  /** The tones in the audio; times from its start. */
  readonly tones: readonly Tone[];
}

/** How the server responds to one request, or fails on its connection. */
export type Behaviour = (request: SpeechRequest, response: ServerResponse) => void | Promise<void>;

export interface SpeechServer {
  readonly url: string;
  /** All requests, in order. */
  readonly requests: SpeechRequest[];
  /** Behaviours for the next requests; then `transcribe` again. */
  script(...behaviours: Behaviour[]): void;
  /** Behaviour for all other requests. */
  otherwise(behaviour: Behaviour): void;
}

/**
 * A real HTTP server for `POST /v1/audio/transcriptions`. It parses the multipart body and its WAV file, and returns a
 * segment "tone <hertz>" for every tone, so that tests can compare results with the audio. Stops with the calling test
 * file.
 */
export async function startSpeechServer(): Promise<SpeechServer> {
  const requests: SpeechRequest[] = [];
  const scripted: Behaviour[] = [];
  let standard: Behaviour = transcribe;
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
  };
}

async function readRequest(incoming: IncomingMessage): Promise<SpeechRequest> {
  const parts: Buffer[] = [];
  for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
  const body = Buffer.concat(parts);
  if (Number(incoming.headers["content-length"]) !== body.length) throw new Error("content-length is wrong");
  if (incoming.method !== "POST") throw new Error(`the method is ${incoming.method}`);
  const form = readForm(body, incoming.headers["content-type"] ?? "");
  if (form.file === undefined) throw new Error("the request has no file");
  const audio = readWav(form.file.content);
  return {
    path: incoming.url ?? "",
    authorization: incoming.headers.authorization,
    fields: form.fields,
    lists: form.lists,
    fileName: form.file.name,
    audio,
    tones: listen(audio),
  };
}

interface Form {
  fields: Record<string, string>;
  lists: Record<string, string[]>;
  file: { name: string; content: Buffer } | undefined;
}

/** RFC 7578 and RFC 2046: parts between boundary lines, each with headers and a body. */
function readForm(body: Buffer, contentType: string): Form {
  const boundary = /^multipart\/form-data; boundary=([\w-]+)$/.exec(contentType)?.[1];
  if (boundary === undefined) throw new Error(`the content type is ${contentType}`);
  const form: Form = { fields: {}, lists: {}, file: undefined };
  const opening = Buffer.from(`--${boundary}\r\n`);
  if (!body.subarray(0, opening.length).equals(opening))
    throw new Error("the body does not start with the boundary");
  let at = opening.length;
  for (;;) {
    const end = body.indexOf(`\r\n--${boundary}`, at);
    const blank = body.indexOf("\r\n\r\n", at);
    if (end < 0 || blank < 0 || blank > end) throw new Error("a part of the body has no end");
    const headers = body.toString("utf8", at, blank);
    const content = body.subarray(blank + 4, end);
    const name = /; name="([^"]*)"/.exec(headers)?.[1] ?? "";
    const fileName = /; filename="([^"]*)"/.exec(headers)?.[1];
    if (fileName !== undefined) form.file = { name: fileName, content };
    // A list; in the fields its values are joined by commas.
    else if (name.endsWith("[]")) {
      form.lists[name] = [...(form.lists[name] ?? []), content.toString("utf8")];
      form.fields[name] = form.lists[name].join();
    } else if (name in form.fields) throw new Error(`field ${name} comes twice`);
    else form.fields[name] = content.toString("utf8");
    at = end + 4 + boundary.length;
    if (body.toString("latin1", at) === "--\r\n") return form;
    if (body.toString("latin1", at, at + 2) !== "\r\n")
      throw new Error("a boundary is followed by something");
    at += 2;
  }
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

/** Responds as a working server, in `json`, `verbose_json` or `diarized_json`. */
export const transcribe: Behaviour = ({ fields, tones, audio }, response) => {
  const text = tones.map(textOf).join(" ");
  const segments = tones.map((tone, id) => ({
    id,
    start: tone.startMs / 1000,
    end: tone.endMs / 1000,
    text: ` ${textOf(tone)}`,
    // Low and high tones are two speakers.
    ...(fields.response_format === "diarized_json" ? { speaker: tone.hz < 600 ? "A" : "B" } : {}),
  }));
  const duration = audio.durationMs / 1000;
  if (fields.response_format === "json") return reply(response, 200, { text });
  const words = segments.flatMap(({ start, end, text: said }) =>
    said
      .trim()
      .split(" ")
      .map((word, index, all) => ({
        word,
        start: start + ((end - start) * index) / all.length,
        end: start + ((end - start) * (index + 1)) / all.length,
      })),
  );
  return reply(response, 200, {
    task: "transcribe",
    language: "english",
    duration,
    text,
    segments,
    ...(fields["timestamp_granularities[]"]?.includes("word") ? { words } : {}),
  });
};

/** The transcript of a tone. */
export function textOf(tone: { readonly hz: number }): string {
  return `tone ${tone.hz}`;
}

/** Responds with an error status. */
export const refuse =
  (status: number, body: unknown = { error: { message: `status ${status}` } }, headers = {}): Behaviour =>
  (_request, response) =>
    reply(response, status, body, headers);

/** Never responds. */
export const neverAnswer: Behaviour = () => {};

/** Sends fewer bytes than its Content-Length and closes the connection. */
export const cutShort: Behaviour = (_request, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"text": "half of');
  setImmediate(() => response.destroy());
};

/** Sends endless JSON until the client disconnects. */
export const flood: Behaviour = (_request, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const block = Buffer.alloc(64 * 1024, "x");
  const more = (): void => {
    while (!response.destroyed && response.write(block));
  };
  response.on("drain", more);
  response.write('{"text": "');
  more();
};

/** Supports only the response format `json`, as models without timestamps do. */
export const jsonOnly: Behaviour = (request, response) =>
  request.fields.response_format === "json"
    ? transcribe(request, response)
    : reply(response, 400, { error: { message: "Currently do not support response_format of this kind" } });
