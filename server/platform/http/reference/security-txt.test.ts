import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { ConfigError, readConfig } from "../../config/config.ts";

/** The fields of the file, in order. */
async function fieldsOf(url: string): Promise<[string, string][]> {
  const response = await fetch(`${url}/.well-known/security.txt`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
  const text = await response.text();
  assert.ok(text.endsWith("\n"));
  return text
    .trimEnd()
    .split("\n")
    .map((line): [string, string] => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]);
}

function assertExpires(value = ""): void {
  const days = (Date.parse(value) - Date.now()) / 86_400_000;
  assert.ok(days > 30 && days < 365, value);
  assert.match(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
}

test("security.txt names the contacts that are set, when it expires and where it belongs", async () => {
  const app = await startTestApp({
    worker: false,
    env: {
      PARLEY_BASE_URL: "https://parley.example",
      PARLEY_SECURITY_CONTACT: "security@parley.example, https://parley.example/report",
    },
  });
  const fields = await fieldsOf(app.url);
  assert.deepEqual(
    fields.filter(([name]) => name !== "Expires"),
    [
      ["Contact", "mailto:security@parley.example"],
      ["Contact", "https://parley.example/report"],
      ["Preferred-Languages", "en"],
      ["Canonical", "https://parley.example/.well-known/security.txt"],
    ],
  );
  assertExpires(new Map(fields).get("Expires"));
});

test("security.txt without a setting links to a page that names the setting", async () => {
  const app = await startTestApp({ worker: false });
  const fields = new Map(await fieldsOf(app.url));
  assert.equal(fields.get("Contact"), "http://parley.test/security-contact");
  assertExpires(fields.get("Expires"));
  const page = await (await fetch(`${app.url}/security-contact`)).text();
  assert.match(page, /PARLEY_SECURITY_CONTACT/);
});

test("PARLEY_SECURITY_CONTACT takes emails and https URLs and names an invalid entry", () => {
  const read = (value: string) => readConfig({ PARLEY_SECURITY_CONTACT: value }, "/tmp").securityContacts;
  assert.deepEqual(read("a@b.example,mailto:c@d.example,tel:+49-30-123"), [
    "mailto:a@b.example",
    "mailto:c@d.example",
    "tel:+49-30-123",
  ]);
  for (const wrong of ["http://a.example", "nobody", "a@b.example\nExpires: x", "a@b.example,", "mailto:"])
    assert.throws(() => read(wrong), ConfigError, wrong);
});
