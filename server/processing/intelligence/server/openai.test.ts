import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, beforeEach, test } from "node:test";
import { z } from "zod";
import {
  cutShort,
  failInStream,
  flood,
  type ModelBehaviour,
  neverAnswer,
  refuse,
  reply,
  say,
  sayJson,
  stall,
  startModelServer,
  without,
} from "../../../../test/support/model-server.ts";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import type { ModelRequest } from "../language-model.ts";
import { baseUrl, openAiModel } from "./openai.ts";
import { jsonSchemaOf } from "./response.ts";

const server = await startModelServer();
const key = "sk-very-secret";
const request: ModelRequest = {
  system: "You write minutes.",
  messages: [{ role: "user", content: "Hello" }],
  schema: { name: "part", json: jsonSchemaOf(z.object({ notes: z.array(z.string()) })) },
  maxOutputTokens: 100,
};
const settings = {
  engine: "server" as const,
  model: "small",
  apiKey: key,
  contextTokens: 8000,
  maxTokensPerDay: null,
  silenceMs: 5000,
};

beforeEach(() => server.reset());

function open(
  limits: { silenceMs?: number; totalMs?: number; maxResponseBytes?: number } = {},
  url = server.url,
) {
  const model = openAiModel({ ...settings, url }, limits);
  after(() => model.close());
  return model;
}

async function failureOf(behaviour: ModelBehaviour, limits = {}): Promise<ModelServerError> {
  server.otherwise(behaviour);
  const error = await open(limits)
    .ask(request)
    .then(
      (answer) => assert.fail(`it returned ${answer.text}`),
      (reason: unknown) => reason,
    );
  assert.ok(error instanceof ModelServerError, String(error));
  const told = `${error.message} ${error.stack} ${JSON.stringify(error)}`;
  assert.ok(!told.includes(key), "the key is not told");
  assert.equal(error.cause, undefined, "nor is the request, which an error of the SDK holds");
  return error;
}

test("request: JSON schema in strict mode, streamed, with usage, no tools, the key as bearer", async () => {
  const answer = await open().ask(request);
  const [sent] = server.requests;
  assert.equal(sent?.path, "/v1/chat/completions");
  assert.equal(sent?.authorization, `Bearer ${key}`);
  const { messages, response_format, ...body } = sent?.body ?? {};
  assert.deepEqual(body, {
    model: "small",
    max_tokens: 100,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  });
  assert.equal(response_format.type, "json_schema");
  assert.equal(response_format.json_schema.strict, true);
  assert.equal(messages.length, 2);
  assert.deepEqual(JSON.parse(answer.text), { notes: [] });
  assert.ok((answer.inputTokens ?? 0) > 0 && (answer.outputTokens ?? 0) > 0);
});

test("without a key no Authorization header is sent", async () => {
  const model = openAiModel({ ...settings, url: server.url, apiKey: null });
  after(() => model.close());
  await model.ask(request);
  assert.equal(server.requests[0]?.authorization, undefined);
});

test("accepts a complete response although a stream was requested", async () => {
  server.otherwise(sayJson({ notes: ["a"] }, { whole: true }));
  const answer = await open().ask(request);
  assert.deepEqual(JSON.parse(answer.text), { notes: ["a"] });
  assert.ok((answer.outputTokens ?? 0) > 0);
});

test("counts of tokens that a server omits are null, not zero", async () => {
  server.otherwise(sayJson({ notes: [] }, { withUsage: false }));
  const answer = await open().ask(request);
  assert.deepEqual([answer.inputTokens, answer.outputTokens], [null, null]);
});

test("a response that reached the output limit is marked as truncated", async () => {
  server.otherwise(say('{"notes": ["a', { finish: "length" }));
  assert.equal((await open().ask(request)).isTruncated, true);
});

test("a stream that ends without a word why: whole JSON is taken, half of it is not", async () => {
  server.script(sayJson({ notes: [] }, { finish: null }), say('{"notes": [', { finish: null }));
  const model = open();
  assert.deepEqual(JSON.parse((await model.ask(request)).text), { notes: [] });
  await assert.rejects(model.ask(request), /aborted its response/);
});

for (const [name, isRefused, message, expected] of [
  [
    "JSON schema",
    (b) => b.response_format?.type === "json_schema",
    "response_format json_schema is unavailable",
    "json_object",
  ],
  ["any response format", (b) => "response_format" in b, "Unknown parameter: response_format", undefined],
  ["any response format, without saying so", (b) => "response_format" in b, "bad request", undefined],
] as [
  string,
  (body: Record<string, unknown> & { response_format?: { type: string } }) => boolean,
  string,
  string | undefined,
][]) {
  test(`a server that refuses ${name} is asked without, and not asked with it again`, async () => {
    server.otherwise(without(isRefused, message));
    const model = open();
    assert.deepEqual(JSON.parse((await model.ask(request)).text), { notes: [] });
    const last = server.requests.at(-1);
    assert.equal(last?.body.response_format?.type, expected);
    assert.match(
      last?.system ?? "",
      /must match this JSON schema:\n\{.*"notes"/,
      "the schema is part of the prompt",
    );
    const before = server.requests.length;
    await model.ask(request);
    assert.equal(server.requests.length, before + 1);
  });
}

test("a server that knows no streaming, temperature or max_tokens is asked without", async () => {
  server.otherwise((asked, response) => {
    const { body } = asked;
    if ("max_tokens" in body)
      return reply(response, 400, {
        error: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." },
      });
    if ("temperature" in body)
      return reply(response, 400, { detail: "temperature does not support 0 with this model" });
    if (body.stream) return reply(response, 400, { error: "stream is not supported" });
    return sayJson({ notes: ["whole"] })(asked, response);
  });
  const answer = await open().ask(request);
  assert.deepEqual(JSON.parse(answer.text), { notes: ["whole"] });
  assert.equal(server.requests.at(-1)?.body.max_completion_tokens, 100);
  assert.equal(server.requests.length, 4);
});

test("a server that does not know stream_options is asked without", async () => {
  server.otherwise(
    without((body) => "stream_options" in body, "Extra inputs are not permitted: stream_options"),
  );
  const answer = await open().ask(request);
  assert.equal(answer.inputTokens, null);
  assert.equal(server.requests.length, 2);
  assert.equal(server.requests[1]?.body.response_format.type, "json_schema");
});

for (const [status, failure, words] of [
  [401, "settings", /does not accept the key \(401\)\. Check PARLEY_LLM_API_KEY/],
  [403, "settings", /does not accept the key \(403\)/],
  [404, "settings", /no such URL or model \(404\).*Check PARLEY_LLM_URL and PARLEY_LLM_MODEL/],
  [402, "settings", /requires payment/],
  [429, "transient", /receives too many requests/],
  [500, "transient", /status 500/],
  [503, "transient", /status 503/],
  [504, "transient", /status 504/],
] as const) {
  test(`status ${status}: ${failure}, in words, without the key`, async () => {
    const error = await failureOf(refuse(status, { error: { message: `Incorrect key ${key} or so` } }));
    assert.equal(error.failure, failure);
    assert.match(error.message, words);
    assert.equal(server.requests.length, 1, "the SDK does not try again by itself");
  });
}

test("429 for lack of credit counts as a wrong setting, not as a busy server", async () => {
  const error = await failureOf(refuse(429, { error: { code: "insufficient_quota", message: "no credit" } }));
  assert.equal(error.failure, "settings");
});

test("a prompt that is too long for the model names the setting, and is not tried in other forms", async () => {
  const error = await failureOf(
    refuse(400, { error: { message: "This model's maximum context length is 4096 tokens" } }),
  );
  assert.match(error.message, /Set PARLEY_LLM_CONTEXT_TOKENS/);
  assert.equal(server.requests.length, 1);
});

test("Retry-After is read as seconds and as a date", async () => {
  const seconds = await failureOf(refuse(429, {}, { "retry-after": "7" }));
  assert.equal(seconds.retryAfterMs, 7000);
  const date = await failureOf(
    refuse(503, {}, { "retry-after": new Date(Date.now() + 60_000).toUTCString() }),
  );
  assert.ok((date.retryAfterMs ?? 0) > 50_000 && (date.retryAfterMs ?? 0) <= 60_000);
});

test("a redirect is not followed, and the key goes nowhere else", async () => {
  let asked = 0;
  const elsewhere = createServer((_request, response) => {
    asked += 1;
    response.end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  after(() => elsewhere.close());
  const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/v1/chat/completions`;
  for (const status of [301, 302, 307, 308]) {
    const error = await failureOf(refuse(status, {}, { location }));
    assert.equal(error.failure, "settings");
    assert.match(error.message, /redirect .*, which is not followed/);
  }
  assert.equal(asked, 0);
});

test("a silent server times out, before its response and within it", async () => {
  for (const behaviour of [neverAnswer, stall]) {
    const error = await failureOf(behaviour, { silenceMs: 200 });
    assert.equal(error.failure, "transient");
    assert.match(error.message, /did not respond within/);
    assert.equal(error.mayCost, true);
  }
});

test("a server that sends a word now and then is aborted after the total timeout", async () => {
  const drip: ModelBehaviour = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const timer = setInterval(() => response.write(": still here\n\n"), 20);
    response.on("close", () => clearInterval(timer));
  };
  const error = await failureOf(drip, { silenceMs: 5000, totalMs: 300 });
  assert.match(error.message, /did not respond within/);
});

test("a slow server that keeps speaking is waited for beyond the time of silence", async () => {
  server.otherwise((asked, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    let left = 6;
    const timer = setInterval(() => {
      left -= 1;
      if (left > 0) return void response.write(": thinking\n\n");
      clearInterval(timer);
      response.write(
        'data: {"choices":[{"delta":{"content":"{\\"notes\\":[]}"},"finish_reason":"stop"}]}\n\n',
      );
      response.end("data: [DONE]\n\n");
    }, 400);
    assert.equal(asked.body.stream, true);
  });
  const answer = await open({ silenceMs: 1500 }).ask(request);
  assert.deepEqual(JSON.parse(answer.text), { notes: [] });
});

test("broken responses: cut connection, error in the stream, no JSON, no message, an HTML page, no end", async () => {
  const cases: [ModelBehaviour, string, RegExp][] = [
    [cutShort, "transient", /failed \(|aborted its response/],
    [failInStream, "transient", /aborted its response: the engine died/],
    [refuse(200, "<html>Please log in</html>"), "unusable", /not JSON/],
    [refuse(200, { choices: [] }), "unusable", /without a message/],
    [refuse(200, { error: { message: "no engine" } }), "transient", /no engine/],
    [refuse(200, "x".repeat(2 * 1024 * 1024)), "unusable", /more than \d+ KiB/],
    [flood, "unusable", /does not end its response/],
  ];
  for (const [behaviour, failure, words] of cases) {
    const error = await failureOf(behaviour, { maxResponseBytes: 1024 * 1024 });
    assert.match(error.message, words);
    assert.equal(error.failure, failure, error.message);
  }
});

test("a model that refuses is not asked again", async () => {
  const error = await failureOf(say("", { finish: "content_filter" }));
  assert.equal(error.failure, "permanent");
});

test("nobody there: the failure is transient, and names host and code", async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const error = await open({}, `http://127.0.0.1:${port}`)
    .ask(request)
    .catch((reason: unknown) => reason);
  assert.ok(error instanceof ModelServerError);
  assert.match(error.message, new RegExp(`language model at 127.0.0.1:${port} failed \\(ECONNREFUSED\\)`));
  assert.equal(error.failure, "transient");
});

test("an aborted request ends at once with the reason", async () => {
  server.otherwise(neverAnswer);
  const stop = new AbortController();
  const asked = open().ask({ ...request, signal: stop.signal });
  setTimeout(() => stop.abort(new Error("the server is stopping")), 50);
  await assert.rejects(asked, /the server is stopping/);
});

test("the URL of a server may be a host, a base URL or the URL of chat completions", () => {
  for (const [setting, expected] of [
    ["http://gpu:8000", "http://gpu:8000/v1"],
    ["https://api.openai.com/v1", "https://api.openai.com/v1"],
    ["https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"],
    ["https://host.example/proxy/chat/completions", "https://host.example/proxy"],
    ["https://host.example/proxy", "https://host.example/proxy/v1"],
    ["https://g.example/v1beta/openai", "https://g.example/v1beta/openai"],
  ] as const)
    assert.equal(baseUrl(setting), expected);
});
