import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { newSecret, signatureHeaders } from "./signing.ts";

const body = JSON.stringify({ type: "recording_added", data: { title: "Grüße, 会議 🎙" } });

function signed(secrets: readonly string[], text = body) {
  return {
    ...signatureHeaders({ id: "msg_1", timestampSec: Math.floor(Date.now() / 1000), body: text, secrets }),
  };
}

test("signature: standardwebhooks and svix verify it", () => {
  for (let i = 0; i < 20; i++) {
    const secret = newSecret();
    const headers = signed([secret]);
    assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
    assert.doesNotThrow(() => new SvixWebhook(secret).verify(body, headers));
  }
});

test("signature: identical to the library's", () => {
  const secret = newSecret();
  const at = new Date(1_700_000_000_000);
  const headers = signatureHeaders({ id: "msg_2", timestampSec: 1_700_000_000, body, secrets: [secret] });
  assert.deepEqual(headers, {
    "webhook-id": "msg_2",
    "webhook-timestamp": "1700000000",
    "webhook-signature": new Webhook(secret).sign("msg_2", at, body),
  });
});

test("signature: both secrets verify during an overlap, another does not", () => {
  const [old, fresh, other] = [newSecret(), newSecret(), newSecret()];
  const headers = signed([fresh, old]);
  assert.match(headers["webhook-signature"], /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  for (const secret of [old, fresh]) {
    assert.doesNotThrow(() => new Webhook(secret).verify(body, headers));
    assert.doesNotThrow(() => new SvixWebhook(secret).verify(body, headers));
  }
  assert.throws(() => new Webhook(other).verify(body, headers), /No matching signature/);
});

test("signature: covers the body, the id and the time", () => {
  const secret = newSecret();
  const headers = signed([secret]);
  const verify = (text: string, changed: object): unknown =>
    new Webhook(secret).verify(text, { ...headers, ...changed });
  assert.doesNotThrow(() => verify(body, {}));
  assert.throws(() => verify(`${body} `, {}), /No matching signature/);
  assert.throws(() => verify(body, { "webhook-id": "msg_3" }), /No matching signature/);
  const later = String(Number(headers["webhook-timestamp"]) + 1);
  assert.throws(() => verify(body, { "webhook-timestamp": later }), /No matching signature/);
});

test("secret: whsec_ and 32 random bytes in base64, never twice the same", () => {
  const secrets = Array.from({ length: 100 }, newSecret);
  for (const secret of secrets) {
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(Buffer.from(secret.slice(6), "base64").length, 32);
  }
  assert.equal(new Set(secrets).size, 100);
});

test("secret: malformed and missing secrets are refused without being shown", () => {
  for (const secret of ["", "whsec_", "hunter22", "whsec_!!!"]) {
    assert.throws(
      () => signed([newSecret(), secret]),
      (error: Error) => /must begin with whsec_/.test(error.message) && !error.message.includes("hunter22"),
    );
  }
  assert.throws(() => signed([]), /needs a secret/);
});
