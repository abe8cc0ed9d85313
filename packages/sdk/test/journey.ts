/** Uses the built package as an app does: every operation, against the server at PARLEY_URL. Prints what it has done. */
import assert from "node:assert/strict";
import { openAsBlob, readFileSync } from "node:fs";
import {
  type Hook,
  Parley,
  ParleyError,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from "parley-sdk";

const { PARLEY_URL = "", PARLEY_TOKEN = "", HOOK_URL = "", MEETING = "", DELIVERY = "" } = process.env;
const parley = new Parley({ baseUrl: `${PARLEY_URL}/`, token: async () => PARLEY_TOKEN });

const token = await parley.tokenInfo();
assert.equal(token.scope, "personal");
const { users } = await parley.listUsers();
const user = users.find(({ id }) => id === token.user_id);
assert.ok(user);
const { teams } = await parley.listTeams();
const { meeting_types } = await parley.listMeetingTypes();
assert.ok(Array.isArray(meeting_types));

// A file in small chunks, interrupted once and resumed.
const file = await openAsBlob(MEETING);
const interrupt = new AbortController();
let uploadId = "";
const sent: number[] = [];
await assert.rejects(
  parley.uploadFile(file, {
    media_type: "audio",
    auto_promote: false,
    attributes: { title: "From the client" },
    chunkBytes: Math.ceil(file.size / 4),
    signal: interrupt.signal,
    onCreate: ({ id }) => {
      uploadId = id;
    },
    onProgress: ({ sentBytes }) => {
      sent.push(sentBytes);
      if (sentBytes > 0) interrupt.abort(new Error("interrupted"));
    },
  }),
  /interrupted/,
);
await parley.uploadFile(file, { resume: uploadId, onProgress: ({ sentBytes }) => sent.push(sentBytes) });
assert.ok(sent.includes(file.size), "the whole file was sent");
assert.ok(sent.filter((bytes) => bytes === 0).length <= 1, "resuming did not start again");
for (;;) {
  const { status } = await parley.getUpload({ upload_id: uploadId });
  if (status === "staged") break;
  assert.ok(status === "awaiting" || status === "processing", status);
  await new Promise((resolve) => setTimeout(resolve, 200));
}
const renamed = await parley.updateUpload({
  upload_id: uploadId,
  attributes: { title: "From the TypeScript client" },
  include: { attributes: true },
});
assert.equal(renamed.attributes?.title, "From the TypeScript client");
await parley.promoteUpload({ upload_id: uploadId });
const audioId = await parley.waitForRecording(uploadId, { pollMs: 200 });

const written = await parley.createUpload({
  media_type: "transcript",
  attributes: {
    title: "A transcript from the client",
    transcript: {
      language: "en",
      segments: [{ speaker_key: "a", start: 0, end: 2000, text: "Good morning." }],
    },
  },
});
const transcriptId = await parley.waitForRecording(written.id, { pollMs: 200 });
const uploads: string[] = [];
for await (const { id } of parley.uploads({ filter: { media_type: "transcript" } })) uploads.push(id);
assert.equal(uploads[0], written.id);

// Iterating reads every page; the library has more recordings than one page.
const ids = new Set<string>();
for await (const recording of parley.recordings()) ids.add(recording.id);
const { recordings, cursor } = await parley.listRecordings({});
assert.ok(ids.size > recordings.length && cursor !== null, "there is more than one page");
assert.ok(ids.has(audioId) && ids.has(transcriptId));

assert.deepEqual(
  (await parley.getTranscript({ recording_id: transcriptId })).map(({ text }) => text),
  ["Good morning."],
);
assert.match(await parley.getTranscriptTxt({ recording_id: transcriptId }), /: Good morning\./);
assert.match(await parley.getTranscriptVtt({ recording_id: transcriptId }), /^WEBVTT/);
assert.match(await parley.getTranscriptSrt({ recording_id: transcriptId }), /00:00:00,000 --> /);
const media = await parley.download(audioId);
assert.equal((await media.arrayBuffer()).byteLength, file.size);

await parley.updateRecording({ recording_id: audioId, title: "Renamed by the client" });
await parley.addTag({ recording_id: audioId, tag: "client" });
await parley.shareToUser({ recording_id: audioId, user_id: user.id });
const team = teams[0];
assert.ok(team);
await parley.shareToTeam({ recording_id: audioId, team_id: team.id });
const recording = await parley.getRecording({ recording_id: audioId, include: { participants: true } });
assert.equal(recording.title, "Renamed by the client");
assert.deepEqual(recording.tags, ["client"]);
assert.deepEqual(
  recording.teams.map(({ id }) => id),
  [team.id],
);
await parley.unshareFromTeam({ recording_id: audioId, team_id: team.id });
await parley.unshareFromUser({ recording_id: audioId, user_id: user.id });
await parley.removeTag({ recording_id: audioId, tag: "client" });

const hook = await parley.createHook({ hook_url: HOOK_URL, hook_type: "recording_updated" });
assert.deepEqual((await parley.listHooks({})).hooks.map(({ id }) => id).includes(hook.id), true);
await parley.deleteHook({ hook_id: hook.id });

// Errors carry the server's code and every invalid value.
await assert.rejects(
  parley.addTag({ recording_id: audioId, tag: "not a tag" }),
  (error) =>
    error instanceof ParleyError && error.code === "invalid_input" && error.violations[0]?.pointer === "/tag",
);
await assert.rejects(
  parley.download(transcriptId),
  (error) => error instanceof ParleyError && error.status === 404 && error.requestId !== null,
);

// After a lost connection or 503 nothing is created twice, and a deletion that happened counts as done.
const outcomes: (number | Error)[] = [];
const methods: string[] = [];
const flaky = new Parley({
  baseUrl: "http://parley.test",
  token: "t",
  fetch: async (input, init) => {
    methods.push(new Request(input, init).method);
    const next = outcomes.shift() ?? 200;
    if (next instanceof Error) throw next;
    const body = next === 404 ? { error: "not_found", detail: "no such hook" } : { success: true };
    return Response.json(body, { status: next, headers: { "retry-after": "0" } });
  },
});
for (const lost of [503, new TypeError("lost")]) {
  outcomes.push(lost, 404);
  assert.deepEqual(await flaky.deleteHook({ hook_id: hook.id }), { success: true });
}
outcomes.push(404);
await assert.rejects(flaky.deleteHook({ hook_id: hook.id }), { code: "not_found" });
outcomes.push(503, 200);
await flaky.listTeams();
methods.length = 0;
outcomes.push(503);
await assert.rejects(flaky.createUpload({ media_type: "video" }), { status: 503 });
assert.deepEqual(methods, ["POST"]);

// A delivery that a real receiver got, as it arrived.
const delivery = JSON.parse(readFileSync(DELIVERY, "utf8"));
const { id, event } = await verifyWebhook(delivery);
assert.equal(id, delivery.headers["webhook-id"]);
assert.equal(event.type, "recording_added");
assert.equal(typeof event.data.id, "string");
for (const changed of [
  { ...delivery, body: delivery.body.replace("recording_added", "recording_abbed") },
  { ...delivery, headers: { ...delivery.headers, "webhook-id": "another" } },
  { ...delivery, headers: { ...delivery.headers, "webhook-timestamp": "1" } },
  { ...delivery, headers: {} },
])
  await assert.rejects(verifyWebhook(changed), WebhookVerificationError);

/** Compiles only if the type of an event determines its data. */
export function describe(event: WebhookEvent): string {
  if (event.type === "transcription_updated") return `${event.data.recording_id}: ${event.data.status}`;
  return event.type;
}
// Compiles only if every type of webhook has an event.
export const everyType = (type: Hook["hook_type"]): WebhookEvent["type"] => type;

process.stdout.write("every operation called\n");
