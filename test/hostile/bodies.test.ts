import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { test } from "node:test";
import { bucketToken } from "../permissions/page-requests.ts";
import { newestOf, watchRoutes } from "../permissions/watch-routes.ts";
import { startTestApp } from "../support/app.ts";
import { makeRecording, makeWorkspace } from "../support/factories.ts";

/**
 * Times hostile bodies of size n and 2n at every route. Processor time is measured, since time on the clock depends on
 * what else the machine does, and the best of some runs, since garbage is collected in any of them.
 */
const served = watchRoutes();
const app = await startTestApp({ worker: true, env: { PARLEY_S3_NOTIFICATION_TOKEN: bucketToken } });
// An admin's own token, since permission is checked before the body.
const { admin, member } = await makeWorkspace(app.db);
const { token } = admin;
const { recordingId } = await makeRecording(app, token);

/** Below this many milliseconds the growth says nothing: a password is hashed, garbage collected. */
const floorMs = 500;

/** Linear time doubles; quadratic time is four times as long. */
const maxGrowth = 3.2;

const size = 24 * 1024;

/** Bodies of about so many bytes, each with a name. */
const bodies: Readonly<Record<string, (bytes: number) => string>> = {
  "one field again and again": (bytes) => "a&".repeat(bytes / 2),
  "many fields": (bytes) => Array.from({ length: bytes / 8 }, (_, index) => `f${index}=1`).join("&"),
  "percent signs": (bytes) => `a=${"%".repeat(bytes)}`,
  "deep JSON": (bytes) => `{"a":${"[".repeat(bytes / 2)}${"]".repeat(bytes / 2)}}`,
  "many keys": (bytes) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: bytes / 10 }, (_, index) => [`k${index}`, 1]))),
  "one key again and again": (bytes) =>
    `{${Array(Math.floor(bytes / 6))
      .fill('"a":1')
      .join(",")}}`,
  spaces: (bytes) => everyField(`a${" ".repeat(bytes / 16)}b`),
  "marks of Markdown": (bytes) => everyField("**_[](".repeat(bytes / 96)),
  "lists of objects": (bytes) => everyField(Array(Math.floor(bytes / 48)).fill({})),
  "line breaks": (bytes) => everyField("\n ".repeat(bytes / 32)),
};

/** A body in which fields that operations have, hold this. */
function everyField(value: unknown): string {
  const names = ["title", "text", "q", "name", "tag", "tags", "filter", "include", "email", "password"];
  const more = ["hook_url", "segments", "attributes", "transcript", "language", "participants"];
  return JSON.stringify(Object.fromEntries([...names, ...more].map((name) => [name, value])));
}

interface Target {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const fill = (path: string): string =>
  path
    .replace(":recording_id", recordingId)
    .replace(/:\w*_id\b/g, randomUUID())
    .replace(/:\w+/g, "x");

function targets(): Target[] {
  const authorization = `Bearer ${token}`;
  const operations = [...served.operations.values()].map((operation) => ({
    name: operation.id,
    method: operation.method,
    path: fill(operation.path),
    headers: {
      authorization,
      "public-api-version": newestOf(operation) ?? "",
    },
  }));
  const others = [...served.otherRoutes].map((door) => {
    const [method = "", path = ""] = door.split(" ");
    const withToken = path === "/mcp" || path.startsWith("/_/storage");
    const headers: Record<string, string> = withToken
      ? {
          authorization: path === "/mcp" ? authorization : `Bearer ${bucketToken}`,
          accept: "application/json, text/event-stream",
        }
      : {};
    return { name: door, method, path: fill(path), headers };
  });
  return [...operations, ...others].filter(({ method }) => !["GET", "HEAD"].includes(method));
}

/** The status of a response, sent by a client that takes less processor time than `fetch`. */
function statusOf({ method, path, headers }: Target, body: Buffer): Promise<number> {
  const type = body[0] === 0x7b ? "application/json" : "application/x-www-form-urlencoded";
  return new Promise((resolve, reject) => {
    const more = { "content-type": type, "content-length": body.length };
    const sent = request(app.url + path, { method, headers: { ...more, ...headers } }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject).end(body);
  });
}

/** Processor time of a request, that of its client included, and the status of its response. */
async function send(target: Target, body: Buffer): Promise<{ readonly ms: number; readonly status: number }> {
  const before = process.cpuUsage();
  const status = await statusOf(target, body);
  const { user, system } = process.cpuUsage(before);
  assert.ok(status < 500, `${target.method} ${target.path} returned ${status}`);
  return { ms: (user + system) / 1000, status };
}

/** The shortest of some runs; one is enough when it is below the floor. */
async function cost(target: Target, body: Buffer): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 4 && best > floorMs; run++) best = Math.min(best, (await send(target, body)).ms);
  return best;
}

for (const [name, make] of Object.entries(bodies))
  test(`hostile bodies: ${name} takes linear time at every route`, async () => {
    const all = targets();
    assert.ok(all.length > 80, `only ${all.length} routes were found`);
    const [small, large] = [Buffer.from(make(size)), Buffer.from(make(2 * size))];
    const slow: string[] = [];
    for (const target of all) {
      const twice = await cost(target, large);
      if (twice <= floorMs) continue;
      const once = await cost(target, small);
      if (twice > maxGrowth * Math.max(once, floorMs / 2))
        slow.push(`${target.name}: ${once} ms, ${twice} ms`);
    }
    assert.deepEqual(slow, []);
  });

/** An object with so many keys. */
const manyKeys = (count: number): Buffer<ArrayBuffer> =>
  Buffer.from(`{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(",")}}`);

/** Processor time that a request may take that is refused for its keys, that of its client included. */
const maxRefusalMs = 50;

/** The status, and the shortest of some runs; one is enough when it is short. */
async function refusalCost(target: Target, body: Buffer) {
  let best = await send(target, body);
  for (let run = 1; run < 12 && best.ms > maxRefusalMs; run++) {
    const next = await send(target, body);
    if (next.ms < best.ms) best = next;
  }
  return best;
}

test("hostile bodies: very many keys in one object are refused at every route before they are parsed", async () => {
  // As many as most operations accept in bytes; and about 10 MB where transcripts are accepted.
  const [most, twice] = [manyKeys(40_000), manyKeys(80_000)];
  const [large, largest] = [manyKeys(400_000), manyKeys(800_000)];
  const takesLarge = ["createUpload", "updateUpload", "supplyTranscript"];
  const all = targets();
  assert.ok(takesLarge.every((id) => all.some(({ name }) => name === id)));
  const slow: string[] = [];
  for (const target of all) {
    // The smaller one where the larger is refused for its size.
    for (const body of takesLarge.includes(target.name) ? [largest, large] : [twice, most]) {
      const { ms, status } = await refusalCost(target, body);
      if (ms > maxRefusalMs) slow.push(`${target.name}: ${ms} ms for ${body.length} bytes`);
      if (status !== 413) break;
    }
  }
  assert.deepEqual(slow, []);
});

test("hostile bodies: an object with more than 1,000 keys is a 400 at any depth, one with 1,000 is not", async () => {
  const post = async (body: string, path = "/_/public-api/v2/recordings") => {
    const headers = { authorization: `Bearer ${token}`, "public-api-version": "2026-10-01" };
    const response = await fetch(app.url + path, { method: "POST", body, headers });
    return { status: response.status, detail: ((await response.json()) as { detail?: string }).detail };
  };
  const object = (count: number) => manyKeys(count).toString();
  assert.equal((await post(object(1000))).status, 200);
  const refused = { status: 400, detail: "the body has an object with more than 1000 keys" };
  assert.deepEqual(await post(object(1001)), refused);
  assert.deepEqual(await post(`{"a":[{"\\"":${object(1001)}}]}`), refused);
  assert.deepEqual(await post(`{${'"a":1,'.repeat(1001)}"a":1}`), refused);
  // What looks like keys within a text is none.
  assert.equal((await post(JSON.stringify({ a: '"k":1,'.repeat(2000) }))).status, 200);
});

test("hostile bodies: a caller without permission is refused before the body arrives", async () => {
  const response = await fetch(`${app.url}/_/api/v1/import-runs`, {
    method: "POST",
    headers: { authorization: `Bearer ${member.token}`, "content-type": "application/json" },
    body: manyKeys(80_000),
  });
  assert.equal(response.status, 403);
});
