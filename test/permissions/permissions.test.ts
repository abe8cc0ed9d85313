import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isManagement, type Operation } from "../../contract/operation.ts";
import { root } from "../shape/sources.ts";
import { type Answer, call, startTestApp } from "../support/app.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { type Caller, callers, type Outcome, type RouteCaller, routeCallers } from "./callers.ts";
import { requests } from "./operation-requests.ts";
import { otherRoutes } from "./other-routes.ts";
import type { OperationRequest } from "./request.ts";
import { permissions } from "./table.ts";
import { createTestUsers, type FreshCaller } from "./users.ts";
import { newestOf, watchRoutes } from "./watch-routes.ts";
import { createWorlds, marker, type World } from "./world.ts";

const { operations, heads } = watchRoutes();
const receiver = await startHookReceiver();
/** Unreachable, so requests to the models wait. */
const nowhere = "http://127.0.0.1:9/v1";
const app = await startTestApp({
  worker: false,
  env: {
    PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
    // The recorder creates a hook for each caller of each operation.
    PARLEY_HOOKS_PER_USER: "0",
    PARLEY_TRANSCRIPTION_URL: nowhere,
    PARLEY_TRANSCRIPTION_MODEL: "none",
    PARLEY_LLM_URL: nowhere,
    PARLEY_LLM_MODEL: "none",
  },
});
const users = await createTestUsers(app);
const worlds = createWorlds(app, users, receiver);
/** Users whose requests are refused, so that nothing changes their accounts. */
const refusedCallers = new Map<Caller, FreshCaller>();
const names = Object.keys(callers) as Caller[];
const routeCallerNames = Object.keys(routeCallers) as RouteCaller[];

/** The operation of a row. */
const operationOf = (row: string): string => row.split(" ", 1)[0] ?? row;

test("the permission table has exactly the existing operations", () => {
  const named = new Set(Object.keys(permissions).map(operationOf));
  assert.deepEqual([...named].sort(), [...operations.keys()].sort());
  assert.deepEqual(Object.keys(requests).sort(), Object.keys(permissions).sort());
});

for (const [id, row] of Object.entries(permissions)) {
  test(`${id} is allowed for ${describe(row)}`, async () => {
    const operation = operations.get(operationOf(id));
    assert.ok(operation, `no operation is named ${id}`);
    const problems: string[] = [];
    const check = async (method: string, caller: Caller, request: OperationRequest): Promise<void> => {
      const response = await send(operation, method, caller, request);
      const expected = row[caller];
      const found: Outcome | number = response.status < 400 ? "ok" : response.status;
      if (found !== expected)
        problems.push(
          `${method} as ${caller}: ${found} instead of ${expected}${found === "ok" ? "" : ` (${detailOf(response)})`}`,
        );
      // Operations open to everyone may return the recording.
      if (operation.permission !== "anyone" && isStranger(caller) && response.text.includes(marker))
        problems.push(`${method} as ${caller}: the response contains data of the recording`);
    };
    const isChange = (caller: Caller): boolean => row[caller] === "ok" && operation.method !== "GET";
    const prepared = prepareRequests(id);
    // A request that reads, or is refused, changes nothing: all of them share a world, before the changes.
    for (const caller of names)
      if (!isChange(caller)) await check(operation.method, caller, await prepared.forReading(caller));
    // Fastify runs the code of GET for HEAD: one caller of each outcome shows it.
    const outcomes = new Map(names.map((caller) => [row[caller], caller]));
    if (heads.has(operation.id))
      for (const caller of outcomes.values()) await check("HEAD", caller, await prepared.forReading(caller));
    for (const caller of names)
      if (isChange(caller)) await check(operation.method, caller, await prepared.forChange(caller));
    // Else the events of all other rows would be sent to them.
    await app.db.pool.query("delete from hooks");
    assert.deepEqual(problems, []);
  });
}

/** Builds the requests of a row. */
function prepareRequests(id: string) {
  const build = requests[id];
  assert.ok(build, `operation-requests.ts has no request for ${id}`);
  // A function of the world alone builds the same request for all callers.
  const isSame = build.length < 2;
  let world: World | undefined;
  let same: OperationRequest | undefined;
  return {
    /** A request that changes nothing, because it reads or is to be refused: all of them share a world. */
    async forReading(caller: Caller): Promise<OperationRequest> {
      if (same !== undefined) return same;
      world ??= await worlds.unused();
      world.knownCallers = isSame || permissions[id]?.[caller] === "ok" ? undefined : refusedCallers;
      const request = await build(world, caller);
      if (isSame) same = request;
      return request;
    },
    /** A request that may change all that it names, so each has a world of its own. */
    async forChange(caller: Caller): Promise<OperationRequest> {
      // What others were refused is done for the first caller who may.
      const refused = same;
      same = undefined;
      if (refused !== undefined) return refused;
      const own = await worlds.unused();
      own.knownCallers = undefined;
      return build(own, caller);
    },
  };
}

/** Sends a request to an operation. */
function send(
  operation: Operation,
  method: string,
  caller: Caller,
  { params = {}, body, query, version, credentials }: OperationRequest,
): Promise<Answer> {
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    assert.ok(value !== undefined, `${operation.id} needs ${name}`);
    return encodeURIComponent(value);
  });
  const { token, headers } = credentials ?? users.credentials[caller];
  return call(app, method, path + (query ?? ""), body, {
    version: isManagement(operation) ? null : (version ?? newestOf(operation) ?? null),
    token: token ?? null,
    ...(headers === undefined ? {} : { headers }),
  });
}

/** The operation's summary and the case of the row. */
function summaryOf(row: string): string {
  const operation = operationOf(row);
  return `${operations.get(operation)?.summary}${row.slice(operation.length)}`;
}

function isStranger(caller: Caller): boolean {
  return caller === "anonymous" || caller === "other_workspace" || /no_access/.test(caller);
}

function detailOf(response: Answer): string {
  return String((response.body as { detail?: unknown } | undefined)?.detail ?? response.text).slice(0, 160);
}

function describe(row: Readonly<Record<Caller, Outcome>>): string {
  return names.filter((caller) => row[caller] === "ok").join(", ") || "no one";
}

test("docs/permissions.md shows the table", () => {
  const lines = [
    "# Permissions",
    "",
    "Who can use which operation and page. `npm test` sends a request for every cell and fails if this page is outdated; `UPDATE_DOCS=1 npm test test/permissions` writes it.",
    "",
    ...names.map((caller) => `- **${caller}**: ${callers[caller]}`),
    "",
    "A number is the status of the error: 401 without a valid token, 403 not allowed, 404 hidden from this caller, 400 if the request makes no sense for this caller.",
    "",
    `| Operation | ${names.join(" | ")} |`,
    `| --- |${names.map(() => " --- |").join("")}`,
    ...Object.entries(permissions).map(
      ([id, row]) =>
        `| ${summaryOf(id)} | ${names.map((caller) => (row[caller] === "ok" ? "✓" : row[caller])).join(" | ")} |`,
    ),
    "",
    "## Pages and other routes",
    "",
    "Routes outside the API: pages, signed links, OAuth, assistants and files. Some require a key: a signed link, a one-time link, a password, an app's secret, or the hidden field of a form. A token does not replace the key.",
    "",
    ...routeCallerNames.map((caller) => `- **${caller}**: ${routeCallers[caller]}`),
    "",
    "*asks*: redirects to sign-in. –: this route has no such key.",
    "",
    `| Route | ${routeCallerNames.join(" | ")} |`,
    `| --- |${routeCallerNames.map(() => " --- |").join("")}`,
    ...Object.entries(otherRoutes).map(
      ([door, row]) =>
        `| \`${door}\` | ${routeCallerNames.map((caller) => (row[caller] === "ok" ? "✓" : (row[caller] ?? "–"))).join(" | ")} |`,
    ),
    "",
  ];
  const file = join(root, "docs", "permissions.md");
  if (process.env.UPDATE_DOCS) writeFileSync(file, lines.join("\n"));
  assert.equal(readFileSync(file, "utf8"), lines.join("\n"));
});
