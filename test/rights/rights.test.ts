import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { versionNames } from "../../contract/versions.ts";
import { root } from "../shape/sources.ts";
import { type Answer, call, startTestApp } from "../support/app.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { type Caller, callers, type Outcome } from "./callers.ts";
import { requests } from "./requests.ts";
import { rights } from "./table.ts";
import { makePeople, makeWorld, marker } from "./world.ts";

const receiver = await startHookReceiver();
const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const people = await makePeople(app);
const names = Object.keys(callers) as Caller[];

/** Every operation that the server has, as its own OpenAPI documents say. */
const operations = await readOperations();

interface Served {
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly summary: string;
  /** The newest version that has it. */
  readonly version: string;
}

async function readOperations(): Promise<Map<string, Served>> {
  const found = new Map<string, Served>();
  for (const version of versionNames) {
    const document = (await (await fetch(`${app.url}/openapi/${version}.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string; summary: string }>>;
    };
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { operationId, summary }] of Object.entries(methods))
        found.set(operationId, { method: method.toUpperCase(), path, summary, version });
  }
  return found;
}

test("the table names every operation there is, and no other", () => {
  assert.deepEqual(Object.keys(rights).sort(), [...operations.keys()].sort());
  assert.deepEqual(Object.keys(requests).sort(), [...operations.keys()].sort());
});

for (const [id, row] of Object.entries(rights)) {
  test(`who may ${id}: ${describe(row)}`, async () => {
    const operation = operations.get(id);
    assert.ok(operation, `there is no operation ${id}`);
    const faults: string[] = [];
    for (const caller of names) {
      const answer = await ask(id, operation, caller);
      const expected = row[caller];
      // In the wrong state for it is no question of who asks.
      const isLetIn = answer.status < 400 || answer.status === 409;
      const found: Outcome | number = isLetIn ? "ok" : answer.status;
      if (found !== expected)
        faults.push(
          `${caller}: ${found} instead of ${expected}${found === "ok" ? "" : ` (${detailOf(answer)})`}`,
        );
      if (isStranger(caller) && answer.text.includes(marker))
        faults.push(`${caller}: reads of the recording`);
    }
    assert.deepEqual(faults, []);
  });
}

/** Asks an operation for things made for this very request, since many requests use them up. */
async function ask(id: string, operation: Served, caller: Caller): Promise<Answer> {
  const world = await makeWorld(app, people, receiver);
  const makeAsk = requests[id];
  assert.ok(makeAsk, `requests.ts has nothing for ${id}`);
  const { params = {}, body, query, version } = await makeAsk(world, caller);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    assert.ok(value !== undefined, `${id} needs ${name}`);
    return encodeURIComponent(value);
  });
  const { token, headers } = people.credentials[caller];
  return call(app, operation.method, path + (query ?? ""), body, {
    version: operation.path.startsWith("/_/api/") ? null : (version ?? operation.version),
    token: token ?? null,
    ...(headers === undefined ? {} : { headers }),
  });
}

function isStranger(caller: Caller): boolean {
  return caller === "anonymous" || caller === "other_workspace" || caller === "no_access";
}

function detailOf(answer: Answer): string {
  return String((answer.body as { detail?: unknown } | undefined)?.detail ?? answer.text).slice(0, 160);
}

function describe(row: Readonly<Record<Caller, Outcome>>): string {
  return names.filter((caller) => row[caller] === "ok").join(", ");
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
        `| ${operations.get(id)?.summary ?? id} | ${names.map((caller) => (row[caller] === "ok" ? "✓" : row[caller])).join(" | ")} |`,
    ),
    "",
  ];
  const file = join(root, "docs", "rights.md");
  if (process.env.UPDATE_DOCS) writeFileSync(file, lines.join("\n"));
  assert.equal(readFileSync(file, "utf8"), lines.join("\n"));
});
