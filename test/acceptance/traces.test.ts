import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call, currentVersion, olderVersion } from "../support/call.ts";
import { ok, startHookReceiver, status } from "../support/hook-receiver.ts";
import { type ReceivedSpan, startOtlpReceiver } from "../support/otlp-receiver.ts";
import { freePort } from "../support/port.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const [collector, receiver, closedPort] = await Promise.all([
  startOtlpReceiver(),
  startHookReceiver(),
  freePort(),
]);
const server = await prepareServer({
  env: {
    PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=collector-key",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    OTEL_BSP_SCHEDULE_DELAY: "200",
  },
});
/** Sends its traces to a port that refuses connections. */
const lonely = await prepareServer({
  shared: server,
  env: {
    PARLEY_ROLE: "api",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${closedPort}`,
    OTEL_BSP_SCHEDULE_DELAY: "100",
  },
});
/** Sends none, by OpenTelemetry's own variable. */
const sampled = await prepareServer({
  shared: server,
  env: {
    PARLEY_ROLE: "api",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: "sampled",
    OTEL_TRACES_SAMPLER: "parentbased_always_off",
    OTEL_BSP_SCHEDULE_DELAY: "100",
  },
});
after(async () => {
  await sampled.dispose();
  await lonely.dispose();
  await server.dispose();
});
await server.start();
const token = await parley(server, "token", "create", "--email", "admin@parley.local", "--workspace");
const user = (await call(server, "POST", "/users", {}, { token })).body.users[0].id;

const spanOf = (what: string, is: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> =>
  until(what, () => collector.spans.find(is));

const childrenOf = ({ spanId, traceId }: ReceivedSpan): ReceivedSpan[] =>
  collector.spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId);

test("a request is a span of the caller's trace, with its database statements as children", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
  const attributes = {
    recorder_ids: [user],
    transcript: {
      language: "en",
      segments: [{ speaker_key: "a", start: 0, end: 900, text: "Secret words." }],
    },
  };
  const body = { media_type: "transcript", attributes };
  const answer = await call(server, "POST", "/uploads/create", body, { token, headers: { traceparent } });
  assert.equal(answer.status, 200);
  const span = await spanOf("the request's span", (one) => one.traceId === traceId && one.kind === 2);
  assert.equal(span.name, "createUpload");
  assert.equal(span.parentSpanId, "b7ad6b7169203331");
  const { "parley.request_id": requestId, ...others } = span.attributes;
  assert.equal(requestId, answer.headers.get("x-request-id"));
  assert.deepEqual(others, {
    "http.request.method": "POST",
    "http.route": "/_/public-api/v2/uploads/create",
    "http.response.status_code": 200,
    "parley.operation": "createUpload",
    "parley.api_version": currentVersion,
  });
  const { resource } = span;
  assert.equal(resource["service.name"], "parley");
  assert.equal(resource["parley.role"], "all");
  assert.equal(resource["deployment.environment.name"], "test");
  assert.equal(collector.headers()["x-key"], "collector-key");
  const children = await until("its statements", () => {
    const found = childrenOf(span);
    return found.some(({ name }) => name === "COMMIT") && found;
  });
  for (const child of children) {
    assert.equal(child.attributes["db.system.name"], "postgresql");
    assert.ok(child.durationMs <= span.durationMs + 1, child.name);
  }
  const texts = children.map(({ attributes: { "db.query.text": text } }) => String(text));
  assert.ok(
    texts.some((text) => /access_tokens/.test(text)),
    "the token check, before the body",
  );
  assert.ok(
    texts.some((text) => /insert into "?uploads/.test(text)),
    "the insert, after the body",
  );
});

test("statements that are sent together, as the token check and the page of a list, are spans of their own", async () => {
  const traceId = "1bf7651916cd43dd8448eb211c80319c";
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  await call(server, "POST", "/recordings", {}, { token });
  await call(server, "POST", "/recordings", {}, { token, headers });
  const span = await spanOf("the request's span", (one) => one.traceId === traceId && one.kind === 2);
  const names = await until("its statements", () => {
    const found = childrenOf(span).map(({ name }) => name);
    return found.length >= 2 && found;
  });
  assert.deepEqual(names.sort(), ["find_workspace_access_token_by_hash", "list_recordings_1_0_0_0"]);
});

test("jobs and webhook sends are traces with their results; failed ones are marked", async () => {
  receiver.at("/good", ok);
  receiver.at("/bad", ok);
  for (const path of ["good", "bad"])
    assert.equal(
      (
        await call(
          server,
          "POST",
          "/hooks/create",
          { hook_url: `${receiver.url}/${path}?key=hook-secret`, hook_type: "recording_added" },
          { token, version: olderVersion },
        )
      ).status,
      200,
    );
  receiver.at("/bad", status(500));
  const attributes = {
    recorder_ids: [user],
    transcript: {
      language: "en",
      segments: [{ speaker_key: "a", start: 0, end: 900, text: "Secret words." }],
    },
  };
  await call(server, "POST", "/uploads/create", { media_type: "transcript", attributes }, { token });
  const job = await spanOf("the job's span", ({ name }) => name === "job promote_upload");
  assert.equal(job.kind, 5);
  assert.equal(job.parentSpanId, undefined);
  assert.equal(job.attributes["parley.queue"], "promote_upload");
  await until("its statements", () => childrenOf(job).length > 3);
  // The request only wakes the worker.
  const requestTraces = new Set(collector.spans.filter(({ kind }) => kind === 2).map((one) => one.traceId));
  const claims = collector.spans.filter(({ name }) => name === "claim_job_fairly");
  assert.deepEqual(
    claims.filter(({ traceId }) => requestTraces.has(traceId)),
    [],
  );
  for (const [code, state] of [
    [200, 0],
    [500, 2],
  ]) {
    const send = await spanOf(
      `a webhook send with ${code}`,
      ({ name, attributes: { "http.response.status_code": response } }) =>
        name === "webhook send" && response === code,
    );
    assert.equal(send.status, state);
    assert.equal(send.kind, 3);
    assert.equal(send.attributes["server.address"], "127.0.0.1");
  }
});

test("spans hold no paths of links, tokens, contents or values of statements", async () => {
  await fetch(`${server.url}/s/a-secret-link-token`);
  await fetch(`${server.url}/no-such-page?token=a-secret-parameter`);
  await spanOf("the last request", ({ attributes }) => attributes["parley.operation"] === "unknown");
  const text = JSON.stringify(collector.spans);
  for (const secret of [token, "a-secret", "Secret words", "hook-secret", "admin@parley.local", "/healthz"])
    assert.equal(text.includes(secret), false, secret);
});

test("an unreachable collector is logged once and breaks nothing, also not the stop", async () => {
  await lonely.start();
  for (let n = 0; n < 20; n++) {
    assert.equal((await call(lonely, "POST", "/users", {}, { token })).status, 200);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const warnings = (): number => lonely.output().stderr.split("traces can't be sent").length - 1;
  await until("the collector is reported", () => warnings() > 0);
  assert.equal(await lonely.stop(), 0);
  assert.equal(warnings(), 1);
});

test("OpenTelemetry's own variables apply: the sampler, and the service name; a stop sends what is left", async () => {
  await sampled.start();
  const ofSampled = () => collector.spans.filter(({ resource }) => resource["service.name"] === "sampled");
  const parent = "b7ad6b7169203331";
  const headers = { traceparent: `00-0af7651916cd43dd8448eb211c80319d-${parent}-01` };
  assert.equal((await call(sampled, "POST", "/users", {}, { token })).status, 200);
  assert.equal((await call(sampled, "POST", "/users", {}, { token, headers })).status, 200);
  assert.equal(await sampled.stop(), 0);
  const roots = ofSampled().filter(({ kind }) => kind === 2);
  assert.deepEqual(
    roots.map(({ name, parentSpanId }) => [name, parentSpanId]),
    [["listUsers", parent]],
  );
});

test("an invalid collector stops the start with one line", async () => {
  const broken = await prepareServer({
    shared: server,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
  });
  await assert.rejects(
    broken.start(),
    /invalid setting: OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL/,
  );
});
