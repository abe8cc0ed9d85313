import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { skipWithout } from "../../../../test/support/programs.ts";
import { until } from "../../../../test/support/until.ts";
import { parseRanges } from "../../../platform/outbound/address-ranges.ts";
import { createHookSender, type HookResponse } from "./send.ts";
import { newSecret, signatureHeaders } from "./signing.ts";

/** Runs the receivers of docs/guide/receiving-webhooks.md. */
const folder = new URL("../../../../docs/guide/examples/", import.meta.url);
const examples = [
  {
    name: "Node",
    command: process.execPath,
    file: fileURLToPath(new URL("receive-hooks.mjs", folder)),
    skip: false,
  },
  {
    name: "Python",
    command: "python3",
    file: fileURLToPath(new URL("receive_hooks.py", folder)),
    skip: skipWithout("python3"),
  },
];

interface Message {
  readonly body: string;
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestampSec?: number;
  readonly secrets: readonly string[];
}

/** Starts an example; the test ends it. */
async function startExample(t: TestContext, example: (typeof examples)[number], secret: string) {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(example.command, [example.file], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HOOK_SECRET: secret, PORT: "0" },
  });
  const sender = createHookSender({ allowAddresses: parseRanges("127.0.0.0/8") });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  t.after(async () => {
    await sender.close();
    child.kill();
    await ended;
  });
  let output = "";
  let errors = "";
  child.stdout.on("data", (part) => {
    output += part;
  });
  child.stderr.on("data", (part) => {
    errors += part;
  });
  const port = await until("the example listens", () => {
    if (child.exitCode !== null) throw new Error(`it has ended: ${errors}`);
    return /listening on port (\d+)/.exec(output)?.[1];
  });
  const url = `http://127.0.0.1:${port}/hooks`;
  const send = (body: string, headers: Record<string, string> = {}): Promise<HookResponse> =>
    sender.send({ url, headers, body });
  return {
    send,
    sendSigned: ({ timestampSec = Math.floor(Date.now() / 1000), ...message }: Message) =>
      send(message.body, { ...signatureHeaders({ ...message, timestampSec }) }),
    /** What it printed since it listens. */
    lines: () => output.split("\n").slice(1, -1),
    errors: () => errors,
  };
}

for (const example of examples) {
  test(`receiver in ${example.name}: accepts real messages once and refuses wrong and old ones`, {
    skip: example.skip,
  }, async (t) => {
    const secret = newSecret();
    const receiver = await startExample(t, example, secret);
    const body = JSON.stringify({ type: "recording_added", user_id: "u", data: { title: "Grüße, 会議 🎙" } });
    const now = Math.floor(Date.now() / 1000);
    const statusOf = async (sent: Promise<HookResponse>) => (await sent).status;

    // The reachability test, sent before there is a secret.
    assert.equal(await statusOf(receiver.send("{}")), 200);

    assert.equal(await statusOf(receiver.sendSigned({ id: "msg_1", body, secrets: [secret] })), 200);
    // Sent again with another signature: recognized by its id.
    const again = await receiver.sendSigned({ id: "msg_1", body, secrets: [secret], timestampSec: now - 5 });
    assert.deepEqual([again.status, again.body], [200, "known"]);
    // During a rotation: one of the signatures is enough, in either position.
    const twice = { body, secrets: [newSecret(), secret] };
    assert.equal(await statusOf(receiver.sendSigned({ id: "msg_2", ...twice })), 200);
    const reversed = { body, secrets: [secret, newSecret()] };
    assert.equal(await statusOf(receiver.sendSigned({ id: "msg_3", ...reversed })), 200);
    // Clocks may differ by up to five minutes.
    const late = { id: "msg_4", body, secrets: [secret], timestampSec: now - 290 };
    assert.equal(await statusOf(receiver.sendSigned(late)), 200);

    for (const [what, sent] of [
      ["a wrong signature", receiver.sendSigned({ id: "bad_1", body, secrets: [newSecret()] })],
      ["too old", receiver.sendSigned({ id: "bad_2", body, secrets: [secret], timestampSec: now - 310 })],
      [
        "from the future",
        receiver.sendSigned({ id: "bad_3", body, secrets: [secret], timestampSec: now + 310 }),
      ],
      ["no signature", receiver.send(body)],
      ["half a signature", receiver.send(body, { "webhook-id": "bad_4", "webhook-timestamp": String(now) })],
      [
        "another body",
        receiver.send(`${body} `, {
          ...signatureHeaders({ id: "bad_5", timestampSec: now, body, secrets: [secret] }),
        }),
      ],
      [
        "another id",
        receiver.send(body, {
          ...signatureHeaders({ id: "bad_6", timestampSec: now, body, secrets: [secret] }),
          "webhook-id": "msg_9",
        }),
      ],
      [
        "no number as its time",
        receiver.send(body, {
          ...signatureHeaders({ id: "bad_7", timestampSec: now, body, secrets: [secret] }),
          "webhook-timestamp": "soon",
        }),
      ],
      [
        "another version of the scheme",
        receiver.send(body, {
          ...signatureHeaders({ id: "bad_8", timestampSec: now, body, secrets: [secret] }),
          "webhook-signature": "v2,AAAA v1a,BBBB v1 ,",
        }),
      ],
    ] as const)
      assert.equal(await statusOf(sent), 401, what);

    const expected = ["msg_1", "msg_2", "msg_3", "msg_4"].map((id) => `recording_added ${id}`);
    await until("it has printed them", () => receiver.lines().length >= expected.length);
    assert.deepEqual(receiver.lines(), expected);
    assert.equal(receiver.errors(), "");
  });

  test(`receiver in ${example.name}: without a secret it accepts the reachability test only`, {
    skip: example.skip,
  }, async (t) => {
    const receiver = await startExample(t, example, "");
    assert.equal((await receiver.send("{}")).status, 200);
    const signed = await receiver.sendSigned({ id: "msg_1", body: '{"type":"x"}', secrets: [newSecret()] });
    assert.equal(signed.status, 401);
  });
}

test("the example receivers import only what comes with Node and Python", () => {
  const [node, python] = examples.map(({ file }) => readFileSync(file, "utf8"));
  for (const [, name] of (node ?? "").matchAll(/from "([^"]+)"/g)) assert.match(name ?? "", /^node:/);
  const standard = "base64 hashlib hmac http.server json os signal sys threading time".split(" ");
  const imported = [...(python ?? "").matchAll(/^(?:import|from) (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(imported.toSorted(), standard.toSorted());
});
