import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { createSigner, linkMessage } from "./link-signer.ts";

const id = "0190c8f0-0000-7000-8000-000000000001";
const signer = createSigner("a secret of some length, for tests alone");
const expiresAt = new Date("2030-01-01T00:00:00.250Z");
const before = new Date("2029-12-31T23:59:59Z");
const query = Object.fromEntries(new URLSearchParams(signer.query("upload", id, expiresAt)));

test("a link is valid until it expires, only for its purpose and id", () => {
  assert.equal(signer.check("upload", id, query, before), null);
  assert.equal(signer.check("upload", id, query, new Date(expiresAt.getTime() - 1)), null);
  assert.equal(signer.check("upload", id, query, expiresAt), "expired");
  assert.equal(signer.check("resume", id, query, before), "invalid");
  assert.equal(signer.check("upload", id.replace("1", "2"), query, before), "invalid");
  assert.equal(createSigner("another secret").check("upload", id, query, before), "invalid");
});

test("no part of a link can be changed, omitted or repeated", () => {
  const flipped = query.signature?.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  for (const bad of [
    { ...query, expires: String(Number(query.expires) + 1) },
    { ...query, signature: flipped },
    { ...query, signature: query.signature?.slice(2) },
    { ...query, signature: "" },
    { ...query, expires: ["1", "2"] },
    { ...query, expires: "1e99" },
    { signature: query.signature },
    {},
    null,
  ])
    assert.equal(signer.check("upload", id, bad, before), "invalid");
});

test("the HMAC computed in SQL equals the one computed here", () => {
  const { inner, outer } = signer.pads("thumbnail");
  const message = linkMessage(id, "123");
  const sha256 = (...parts: (Buffer | string)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
  const bySql = sha256(outer, sha256(inner, message)).toString("hex");
  const direct = signer.query("thumbnail", id, new Date(123)).split("signature=")[1];
  assert.equal(bySql, direct);
  assert.notEqual(createHmac("sha256", "").update(message).digest("hex"), direct);
});
