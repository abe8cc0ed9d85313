import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { because, causeOf } from "../../contract/causes/causes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Rules that only programs can break: the web app never sends what they refuse. */
const ofPrograms = [
  "is not an object in the store",
  "is required when media_type is transcript",
  "is required with a workspace token: name at least one user",
  "is required with a workspace token: name the user who will own the recording",
  "is required without media",
  "me is a user; use a personal token",
  "must be a JSON object",
  "must be milliseconds from the start of the recording",
  "must be scopes of OAuth 2.0",
  "must be the id of a file",
  "must be the number of a question",
  "must be the number of an edit",
  "must be within two days of start_datetime",
  "must be your own with a personal token",
  "must end in .mov, .mp4, .mp3 or .m4a",
];

test("each rule of a schema and each violation has a code, so that the web app has a text for it", () => {
  const rulesIn = (folder: string, pattern: RegExp): string[] =>
    globSync(`${folder}/**/*.ts`, { cwd: root })
      .filter((file) => !/\.test\.ts$|\/(?:test|scim)\//.test(file))
      .flatMap((file) => [...readFileSync(`${root}/${file}`, "utf8").matchAll(pattern)])
      .map(([, rule = ""]) => rule);
  const rules = [
    ...rulesIn("contract", /\.(?:min|max|regex|refine)\([^\n]*, "([a-z][^"]*)"\)/g),
    ...rulesIn("server", /pointer: [^\n]*\s*detail: "([^"]*)"/g),
  ];
  assert.ok(rules.length > 100, `${rules.length} rules are found`);
  const missing = rules.filter((rule) => causeOf(rule) === undefined);
  assert.deepEqual([...new Set(missing)].toSorted(), ofPrograms);
});

test("a cause has the values that its text names, and a constant text leads back to its code", () => {
  assert.deepEqual(because("link_limit", { limit: 200 }), {
    detail: "the limit of 200 links is reached; revoke one first",
    cause: { code: "link_limit", values: { limit: 200 } },
  });
  assert.deepEqual(causeOf(because("legal_hold").detail), because("legal_hold").cause);
  assert.equal(causeOf("nobody wrote this"), undefined);
});
