import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
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
const { token, member } = await makeWorkspace(app.db);
const { recordingId } = await makeRecording(app, member.token);

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

async function send({ method, path, headers }: Target, body: string): Promise<number> {
  const before = process.cpuUsage();
  const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
  const response = await fetch(app.url + path, {
    method,
    body,
    headers: { "content-type": type, ...headers },
    redirect: "manual",
  });
  await response.arrayBuffer();
  assert.ok(response.status < 500, `${method} ${path} returned ${response.status}`);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The shortest of some runs; one is enough when it is below the floor. */
async function cost(target: Target, body: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 4 && best > floorMs; run++) best = Math.min(best, await send(target, body));
  return best;
}

for (const [name, make] of Object.entries(bodies))
  test(`hostile bodies: ${name} takes linear time at every route`, async () => {
    const all = targets();
    assert.ok(all.length > 80, `only ${all.length} routes were found`);
    const slow: string[] = [];
    for (const target of all) {
      const twice = await cost(target, make(2 * size));
      if (twice <= floorMs) continue;
      const once = await cost(target, make(size));
      if (twice > maxGrowth * Math.max(once, floorMs / 2))
        slow.push(`${target.name}: ${once} ms, ${twice} ms`);
    }
    assert.deepEqual(slow, []);
  });
