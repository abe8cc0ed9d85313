import assert from "node:assert/strict";
import { test } from "node:test";
import { checkHookUrl } from "./target.ts";

test("hook URL: http and https are accepted, only https where it is required", () => {
  for (const url of [
    "https://example.com",
    "https://example.com/hooks/parley?key=1&b=%20#part",
    "https://example.com:8443/",
    "HTTPS://EXAMPLE.COM/",
    "https://[2606:4700::1]:8443/x",
    "https://münchen.example/ü",
    "https://localhost/",
    "https://printer.local/",
    "https://metadata.google.internal/",
    "https://2130706433/",
  ]) {
    assert.equal(checkHookUrl(url, { httpsOnly: true }), null, url);
    assert.equal(checkHookUrl(url, { httpsOnly: false }), null, url);
  }
  assert.equal(checkHookUrl("http://example.com:3000/x", { httpsOnly: false }), null);
  assert.equal(checkHookUrl("http://example.com/", { httpsOnly: true }), "must be an https URL");
});

test("hook URL: everything but absolute http and https URLs is refused", () => {
  for (const url of [
    ...["", "/hooks", "example.com", "//example.com/x", "ftp://example.com/", "file:///etc/passwd"],
    ...[
      "javascript:alert(1)",
      "data:text/plain,x",
      "ws://example.com",
      "gopher://example.com/",
      "https:example.com",
    ],
    ...["https:/example.com", "unix:/var/run/docker.sock", " https://example.com/"],
  ])
    assert.equal(checkHookUrl(url, { httpsOnly: false }), "must be an http or https URL", url);
});

test("hook URL: URLs that parsers read differently are refused", () => {
  for (const [url, reason] of [
    ["https://user@example.com/", /user name or password/],
    ["https://user:secret@example.com/", /user name or password/],
    ["https://@example.com/", /user name or password/],
    ["https://:@example.com/", /user name or password/],
    ["https://example.com@127.0.0.1/", /user name or password/],
    ["https://example.com\\@127.0.0.1/", /spaces, control characters/],
    ["https://exam\nple.com/", /spaces, control characters/],
    ["https://example.com/\r\nx-injected: 1", /spaces, control characters/],
    ["https://example.com/a b", /spaces, control characters/],
    ["https://example.com/\0", /spaces, control characters/],
    ["https://example.com ", /spaces, control characters/],
    ["https://", /name a host/],
    ["https:///x", /name a host/],
    ["https://[::1%25eth0]/", /valid URL/],
    ["https://[::1/", /valid URL/],
    ["https://example.com:99999/", /valid URL/],
    ["https://example.com:-1/", /valid URL/],
    ["https://999.1.1.1/", /valid URL/],
    ["https://%00.example.com/", /valid URL/],
  ] as const)
    assert.match(checkHookUrl(url, { httpsOnly: false }) ?? "accepted", reason, JSON.stringify(url));
});

test("hook URL: ports of other protocols are refused, in any notation", () => {
  for (const port of [0, 1, 22, 25, 53, 110, 143, 465, 587, 2049, 5060, 6000, 6667, 10080])
    assert.match(checkHookUrl(`http://example.com:${port}/`, { httpsOnly: false }) ?? "accepted", /port/);
  assert.match(checkHookUrl("http://example.com:00025/", { httpsOnly: false }) ?? "accepted", /port 25/);
  for (const port of [80, 443, 3000, 5678, 8080, 65_535])
    assert.equal(checkHookUrl(`http://example.com:${port}/`, { httpsOnly: false }), null);
});

test("hook URL: 2000 characters are accepted, one more is not", () => {
  const start = "https://example.com/";
  assert.equal(checkHookUrl(start.padEnd(2000, "x"), { httpsOnly: true }), null);
  assert.match(checkHookUrl(start.padEnd(2001, "x"), { httpsOnly: true }) ?? "accepted", /at most 2000/);
});
