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
import { permissions } from "./table.ts";
import { createTestUsers } from "./users.ts";
import { newestOf, watchRoutes } from "./watch-routes.ts";
import { createWorld, marker, type World } from "./world.ts";

const { operations, heads } = watchRoutes();
const receiver = await startHookReceiver();
/** Unreachable, so requests to the models wait. */
const nowhere = "http://127.0.0.1:9/v1";
const app = await startTestApp({
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
    const methods = heads.has(operation.id) ? [operation.method, "HEAD"] : [operation.method];
    // A request that reads, or is refused, changes nothing, so all of them share one world.
    const shared = await createWorld(app, users, receiver);
    for (const method of methods)
      for (const caller of names) {
        const isChange = row[caller] === "ok" && operation.method !== "GET";
        const world = isChange ? await createWorld(app, users, receiver) : shared;
        const response = await send(id, operation, method, caller, world);
        const expected = row[caller];
        const found: Outcome | number = response.status < 400 ? "ok" : response.status;
        if (found !== expected)
          problems.push(
            `${method} as ${caller}: ${found} instead of ${expected}${found === "ok" ? "" : ` (${detailOf(response)})`}`,
          );
        // Operations open to everyone may return the recording.
        if (operation.permission !== "anyone" && isStranger(caller) && response.text.includes(marker))
          problems.push(`${method} as ${caller}: the response contains data of the recording`);
      }
    // Else the events of all other rows would be sent to them.
    await app.db.pool.query("delete from hooks");
    assert.deepEqual(problems, []);
  });
}

/**
 * Sends a request to an operation.
 * @param world not used before where the request is expected to change something, because many delete theirs.
 */
async function send(
  id: string,
  operation: Operation,
  method: string,
  caller: Caller,
  world: World,
): Promise<Answer> {
  const buildRequest = requests[id];
  assert.ok(buildRequest, `operation-requests.ts has no request for ${id}`);
  const { params = {}, body, query, version, credentials } = await buildRequest(world, caller);
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    assert.ok(value !== undefined, `${id} needs ${name}`);
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
