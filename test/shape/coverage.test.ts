import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as directory from "../../contract/directory.ts";
import { errorCatalogue } from "../../contract/errors.ts";
import * as hooks from "../../contract/hooks.ts";
import { oauthPaths } from "../../contract/oauth.ts";
import type { Operation } from "../../contract/operation.ts";
import * as recordings from "../../contract/recording-operations.ts";
import * as tokenInfo from "../../contract/token-info.ts";
import { transcriptJson, transcriptText } from "../../contract/transcripts.ts";
import * as uploads from "../../contract/uploads.ts";
import { isOpen, versionNames } from "../../contract/versions.ts";
import { startTestApp } from "../support/app.ts";
import { readSources, root } from "./sources.ts";

function isOperation(value: unknown): value is Operation {
  return (
    typeof value === "object" && value !== null && "gate" in value && "path" in value && "method" in value
  );
}

const operations: Operation[] = [recordings, uploads, hooks, directory, tokenInfo]
  .flatMap((module) => Object.values(module) as unknown[])
  .concat([transcriptJson, ...Object.values(transcriptText)])
  .filter(isOperation);

const app = await startTestApp({ worker: false });

/** It takes neither a version nor an access token, so it is no operation like the others. */
const tokenEndpoint = {
  id: "oauthToken",
  gate: "every_version",
  method: "POST",
  path: oauthPaths.token,
  summary: "Generate or Refresh Token",
} as const;

/** The rows of the coverage page: each operation of the contract, whether it is served, and the tests that call it. */
async function coverage(): Promise<string> {
  const served = new Set<string>();
  for (const version of versionNames) {
    const document = (await (await fetch(`${app.url}/openapi/${version}.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    for (const methods of Object.values(document.paths))
      for (const { operationId } of Object.values(methods)) served.add(`${operationId} ${version}`);
  }
  const tests = readSources([".test.ts"]);
  const rows = [...operations, tokenEndpoint].map((operation) => {
    const versions = versionNames.map((version) =>
      !isOpen(operation.gate, version)
        ? "not in it"
        : served.has(`${operation.id} ${version}`)
          ? "served"
          : "not yet",
    );
    return `| ${operation.summary} | \`${operation.method} ${operation.path}\` | ${versions.join(" | ")} | ${testsOf(operation, tests)} |`;
  });
  return [
    "# Coverage of the contract",
    "",
    "Made by `npm test`, which fails when this page is out of date (`UPDATE_DOCS=1 npm test test/shape` writes it).",
    "",
    `| Operation | Method and path | ${versionNames.join(" | ")} | Tests |`,
    `| --- | --- | ${versionNames.map(() => "---").join(" | ")} | --- |`,
    ...rows,
    "",
  ].join("\n");
}

/** Test files that name the end of the operation's path after its prefix, as a call does. */
function testsOf(
  operation: Pick<Operation, "path">,
  tests: readonly { path: string; text: string }[],
): string {
  const parts = operation.path.replace("/_/public-api/v2", "").split("/").filter(Boolean);
  const pattern = parts.map((part) =>
    part.startsWith(":") ? "[^/\"'`\\s]+(\\([^)]*\\))?\\}?" : part.replace(".", "\\."),
  );
  const called = new RegExp(`/${pattern.join("/")}["'\`]`);
  const generic = new RegExp(`"/${pattern.slice(2).join("/")}["'\`]`);
  const found = tests.filter(
    ({ path, text }) =>
      !path.startsWith("test/shape/") &&
      (called.test(text) || (parts.length > 2 && generic.test(text) && text.includes(`/${parts[0]}/\${`))),
  );
  return found.map(({ path }) => path.split("/").at(-1)).join(", ") || "none";
}

test("coverage: docs/api-coverage.md is what is served, and everything served has a test", async () => {
  const page = await coverage();
  const file = join(root, "docs/api-coverage.md");
  if (process.env.UPDATE_DOCS) (await import("node:fs")).writeFileSync(file, page);
  assert.equal(readFileSync(file, "utf8"), page, "run UPDATE_DOCS=1 npm test test/shape");
  for (const row of page.split("\n").filter((line) => line.includes("served")))
    assert.doesNotMatch(row, /\| none \|$/, row);
});

test("errors: docs/errors.md lists the catalogue, code by code", () => {
  const text = readFileSync(join(root, "docs/errors.md"), "utf8");
  const listed = [...text.matchAll(/^\| `(\w+)` \| (\d+) \| (.+) \|$/gm)].map(([, code, status, title]) => [
    code,
    Number(status),
    title,
  ]);
  assert.deepEqual(
    listed,
    Object.entries(errorCatalogue).map(([code, { status, title }]) => [code, status, title]),
  );
});
