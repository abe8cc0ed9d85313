import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isManagement, type Operation } from "../../contract/operation.ts";
import { root } from "../shape/sources.ts";
import { type Answer, call, startTestApp } from "../support/app.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { type Caller, callers, type DoorCaller, doorCallers, type Outcome } from "./callers.ts";
import { doors } from "./doors.ts";
import { makePeople } from "./people.ts";
import { requests } from "./requests.ts";
import { newestOf, watchRoutes } from "./served.ts";
import { rights } from "./table.ts";
import { makeWorld, marker } from "./world.ts";

const { operations, heads } = watchRoutes();
const receiver = await startHookReceiver();
/** Nobody is there: what is asked of a model waits for it. */
const nowhere = "http://127.0.0.1:9/v1";
const app = await startTestApp({
  env: {
    PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
    PARLEY_TRANSCRIPTION_URL: nowhere,
    PARLEY_TRANSCRIPTION_MODEL: "none",
    PARLEY_LLM_URL: nowhere,
    PARLEY_LLM_MODEL: "none",
  },
});
const people = await makePeople(app);
const names = Object.keys(callers) as Caller[];
const doorNames = Object.keys(doorCallers) as DoorCaller[];

/** The operation that a row is about. */
const operationOf = (row: string): string => row.split(" ", 1)[0] ?? row;

test("the table names every operation there is, and no other", () => {
  const named = new Set(Object.keys(rights).map(operationOf));
  assert.deepEqual([...named].sort(), [...operations.keys()].sort());
  assert.deepEqual(Object.keys(requests).sort(), Object.keys(rights).sort());
});

for (const [id, row] of Object.entries(rights)) {
  test(`who may ${id}: ${describe(row)}`, async () => {
    const operation = operations.get(operationOf(id));
    assert.ok(operation, `there is no operation for ${id}`);
    const faults: string[] = [];
    for (const method of heads.has(operation.id) ? [operation.method, "HEAD"] : [operation.method])
      for (const caller of names) {
        const answer = await ask(id, operation, method, caller);
        const expected = row[caller];
        const found: Outcome | number = answer.status < 400 ? "ok" : answer.status;
        if (found !== expected)
          faults.push(
            `${method} as ${caller}: ${found} instead of ${expected}${found === "ok" ? "" : ` (${detailOf(answer)})`}`,
          );
        // What anyone may ask is shown to anyone.
        if (operation.permission !== "anyone" && isStranger(caller) && answer.text.includes(marker))
          faults.push(`${method} as ${caller}: reads of the recording`);
      }
    assert.deepEqual(faults, []);
  });
}

/** Asks an operation for things made for this very request, since many requests use them up. */
async function ask(id: string, operation: Operation, method: string, caller: Caller): Promise<Answer> {
  const world = await makeWorld(app, people, receiver);
  const makeAsk = requests[id];
  assert.ok(makeAsk, `requests.ts has nothing for ${id}`);
  const { params = {}, body, query, version, credentials } = await makeAsk(world, caller);
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    assert.ok(value !== undefined, `${id} needs ${name}`);
    return encodeURIComponent(value);
  });
  const { token, headers } = credentials ?? people.credentials[caller];
  return call(app, method, path + (query ?? ""), body, {
    version: isManagement(operation) ? null : (version ?? newestOf(operation) ?? null),
    token: token ?? null,
    ...(headers === undefined ? {} : { headers }),
  });
}

/** An operation in words, with what else the row says of it. */
function summaryOf(row: string): string {
  const operation = operationOf(row);
  return `${operations.get(operation)?.summary}${row.slice(operation.length)}`;
}

function isStranger(caller: Caller): boolean {
  return caller === "anonymous" || caller === "other_workspace" || /no_access/.test(caller);
}

function detailOf(answer: Answer): string {
  return String((answer.body as { detail?: unknown } | undefined)?.detail ?? answer.text).slice(0, 160);
}

function describe(row: Readonly<Record<Caller, Outcome>>): string {
  return names.filter((caller) => row[caller] === "ok").join(", ") || "nobody";
}

test("docs/rights.md shows the table", () => {
  const lines = [
    "# Who may what",
    "",
    "Made by `npm test`, which asks every cell over HTTP and fails when this page is out of date (`UPDATE_DOCS=1 npm test test/rights` writes it).",
    "",
    ...names.map((caller) => `- **${caller}**: ${callers[caller]}`),
    "",
    "A number is the status of the refusal: 401 without a good token, 403 not allowed, 404 not to be known of, 400 where the request can't mean anything for this caller.",
    "",
    `| Operation | ${names.join(" | ")} |`,
    `| --- |${names.map(() => " --- |").join("")}`,
    ...Object.entries(rights).map(
      ([id, row]) =>
        `| ${summaryOf(id)} | ${names.map((caller) => (row[caller] === "ok" ? "✓" : row[caller])).join(" | ")} |`,
    ),
    "",
    "## Doors that are no operations",
    "",
    "Pages, signed links, the endpoints of OAuth, assistants and files. Some ask for a key: a signed link, a one-time link, a password, the secret of an app, the hidden field of one's own form. A token is worth nothing in its place.",
    "",
    ...doorNames.map((caller) => `- **${caller}**: ${doorCallers[caller]}`),
    "",
    "*asks* is a page to sign in on; – where the door knows no such key.",
    "",
    `| Door | ${doorNames.join(" | ")} |`,
    `| --- |${doorNames.map(() => " --- |").join("")}`,
    ...Object.entries(doors).map(
      ([door, row]) =>
        `| \`${door}\` | ${doorNames.map((caller) => (row[caller] === "ok" ? "✓" : (row[caller] ?? "–"))).join(" | ")} |`,
    ),
    "",
  ];
  const file = join(root, "docs", "rights.md");
  if (process.env.UPDATE_DOCS) writeFileSync(file, lines.join("\n"));
  assert.equal(readFileSync(file, "utf8"), lines.join("\n"));
});
