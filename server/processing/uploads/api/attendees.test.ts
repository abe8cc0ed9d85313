import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { call } from "../../../../test/support/app.ts";
import { sampleTranscript, waitForRecording } from "../../../../test/support/factories.ts";
import { type Input, startUploads } from "../test/uploads.ts";

const { app, member, create } = await startUploads();
const { token } = member;
const file = readFileSync(new URL("../../../../test/fixtures/media/good-cbr.mp3", import.meta.url));

/** An audio recording with these attributes. */
async function record(attributes: Input): Promise<string> {
  const { body, text } = await create({ media_type: "audio", attributes });
  const { url, headers } = body.media?.upload ?? assert.fail(text);
  const sent = await fetch(url.replace("http://parley.test", app.url), {
    method: "PUT",
    body: file,
    headers,
  });
  assert.equal(sent.status, 200);
  return waitForRecording(app, token, body.id);
}

async function confirmed(recordingId: string): Promise<boolean[]> {
  const { body } = await call(
    app,
    "POST",
    `/recordings/${recordingId}`,
    { include: { participants: true } },
    { token },
  );
  return body.participants.map((one: { confirmed_attendee: boolean }) => one.confirmed_attendee);
}

async function attended(): Promise<string[]> {
  const { body } = await call(app, "POST", "/recordings", { filter: { attendance: "attended" } }, { token });
  return body.recordings.map((one: { id: string }) => one.id);
}

test("participants named in an audio upload are confirmed, and attendance: attended finds the recording", async () => {
  const id = await record({
    participants: [
      { name: "Me", email: member.email },
      { name: "Ada", speaker_key: "s9" },
      { phone: "+49 30 1" },
    ],
  });
  assert.deepEqual(await confirmed(id), [true, true, true]);
  assert.ok((await attended()).includes(id));
});

test("with a transcript beside the file, a participant whose key has no words is unconfirmed", async () => {
  const id = await record({
    transcript: sampleTranscript,
    participants: [
      { name: "Heard", speaker_key: "s1" },
      { name: "Not heard", speaker_key: "nobody" },
      { name: "Without a key", email: member.email },
    ],
  });
  assert.deepEqual(await confirmed(id), [true, false, true]);
});
