import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { call } from "../../../../test/support/app.ts";
import { makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { erasePersonJob } from "../../../governance/retention/erasure/erase-user.ts";
import { dumpDatabase } from "../../../governance/retention/test/retention.ts";
import { syncGrants } from "../../../people/access/grants.ts";
import { recordingObjectKey } from "../../../platform/storage/layout.ts";
import { installModel } from "../../models/install.ts";
import { localSpeakerFinder } from "../local/speaker-finder.ts";
import { localTranscriber } from "../local/transcriber.ts";
import { markFailed } from "../queries.ts";
import { cutEvery, startTranscription } from "../test/transcription.ts";
import { deleteOldVoices } from "./profiles.ts";

const assets = fileURLToPath(new URL("../../../../test/fixtures/speech/", import.meta.url));
const made = await startTranscription();
const { app, db, workspace, deps, makeRecording, run, segments } = made;
const { dataDir } = app.config;
for (const [name, folder] of [
  ["tiny", "tiny-transducer"],
  ["voices", "voice-lda"],
] as const)
  await installModel(dataDir, name, { type: "folder", path: join(assets, folder) });
const { session } = db;
const settings = { engine: "local", isRequired: true, model: null, threads: 1, language: null } as const;
const local = {
  transcriber: localTranscriber(settings, { dataDir, session }),
  speakerFinder: localSpeakerFinder(1, { dataDir, session }),
  extractSpeech: cutEvery(30_000, 2000),
};

const manage = (method: string, path: string, body?: unknown, token = workspace.token) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });
const asAdmin = (method: string, path: string, body?: unknown) =>
  manage(method, path, body, workspace.admin.token);

/** A transcribed recording of two voices. */
async function heard(): Promise<string> {
  const id = await makeRecording({ participants: ["Anna", "Ben"] });
  await deps.store.put(recordingObjectKey(id, "media.mp3"), await readFile(join(assets, "espeak2.wav")));
  await run(id, local);
  assert.equal(new Set((await segments(id)).map(({ speaker }) => speaker)).size, 2);
  return id;
}

const voicesOf = async (id: string) => (await manage("GET", `/recordings/${id}/voices`)).body.voices;

/** Every row of every table as a dump has it, without the spaces that JSON has between numbers and arrays have not. */
const dump = async (): Promise<string> => (await dumpDatabase(app)).replaceAll(" ", "");

test("off by default: no voice is kept, and none can be remembered", async () => {
  const id = await heard();
  assert.deepEqual(await voicesOf(id), []);
  assert.equal((await db.pool.query("select 1 from recording_voices")).rowCount, 0);
  const refused = await manage("POST", `/recordings/${id}/voices`, {
    speaker: "Unknown Speaker 1",
    name: "Ada",
    consent: true,
  });
  assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);
});

test("a voice remembered with consent is suggested in the next recording; erasing the person leaves no trace", async () => {
  assert.equal((await asAdmin("PATCH", "/workspace", { voice_profiles: true })).status, 200);
  const first = await heard();
  assert.deepEqual(await voicesOf(first), [
    { speaker: "Unknown Speaker 1", sounds_like: null },
    { speaker: "Unknown Speaker 2", sounds_like: null },
  ]);
  const email = "ada@tidewater.example";
  const body = { speaker: "Unknown Speaker 1", name: "Ada", email };
  for (const consent of [undefined, false])
    assert.equal((await manage("POST", `/recordings/${first}/voices`, { ...body, consent })).status, 400);
  const created = await manage("POST", `/recordings/${first}/voices`, { ...body, consent: true });
  assert.equal(created.status, 200, created.text);
  assert.equal(created.body.consent.confirmed_by.id, workspace.admin.id);
  assert.match(created.body.model, /^voices@[0-9a-f]{16}$/);
  const again = await manage("POST", `/recordings/${first}/voices`, { ...body, consent: true });
  assert.equal(again.status, 409, "the recording's copy of the voice is deleted");

  const second = await heard();
  const profile = { profile_id: created.body.id, name: "Ada" };
  assert.deepEqual(await voicesOf(second), [
    { speaker: "Unknown Speaker 1", sounds_like: profile },
    { speaker: "Unknown Speaker 2", sounds_like: null },
  ]);
  assert.ok(
    (await segments(second)).every(({ speaker }) => speaker !== "Ada"),
    "nobody is named silently",
  );
  assert.deepEqual((await asAdmin("GET", "/voice-profiles")).body.profiles, [created.body]);
  const exported = await asAdmin("GET", `/voice-profiles/${created.body.id}`);
  const { rows: audit } = await db.pool.query(
    "select action, details from audit_log where action like 'voice_profile%' and workspace_id = $1 order by id",
    [workspace.id],
  );
  assert.deepEqual(
    audit.map(({ action, details }) => [action, details.consent]),
    [
      ["voice_profile_created", true],
      ["voice_profile_exported", undefined],
    ],
  );

  const { embedding } = exported.body as { embedding: number[] };
  const stretches = embedding.slice(2).map((_, index) => embedding.slice(index, index + 3).join(","));
  const before = await dump();
  assert.ok(stretches.length > 10 && stretches.every((stretch) => before.includes(stretch)));
  // The person's recordings hold voices as well.
  await db.pool.query("update participants set email = $1 where recording_id = $2 and name = 'Anna'", [
    email,
    second,
  ]);
  const erasure = await asAdmin("POST", "/erasures", { email });
  assert.equal(erasure.status, 200, erasure.text);
  const { jobs, store, encryptor, config } = app;
  await erasePersonJob({ db, jobs, store, encryptor, config, log: deps.log }, erasure.body.id);
  const { status, receipt } = (await asAdmin("GET", `/erasures/${erasure.body.id}`)).body;
  assert.equal(status, "done");
  assert.equal(receipt.voice_profiles_erased, 1);
  const after = await dump();
  assert.deepEqual(
    stretches.filter((stretch) => after.includes(stretch)),
    [],
  );
  assert.deepEqual(await voicesOf(second), []);
});

test("a renamed speaker and a supplied transcript leave no voice behind; only editors list voices", async () => {
  const id = await heard();
  const reader = await makeUser(db, workspace);
  await db.pool.query("update participants set email = $1 where recording_id = $2 and name = 'Anna'", [
    reader.email,
    id,
  ]);
  await db.kysely.transaction().execute((tx) => syncGrants(tx, [id]));
  const refused = await manage("GET", `/recordings/${id}/voices`, undefined, reader.token);
  assert.deepEqual([refused.status, refused.body.error], [403, "forbidden"]);
  const version = async () => (await manage("GET", `/recordings/${id}/transcript`)).body.transcript_version;
  const renamed = await manage("POST", `/recordings/${id}/transcript/speakers/rename`, {
    transcript_version: await version(),
    speaker: { name: "Unknown Speaker 1" },
    name: "Cleo",
  });
  assert.equal(renamed.status, 200, renamed.text);
  assert.deepEqual(await voicesOf(id), [{ speaker: "Unknown Speaker 2", sounds_like: null }]);
  const supplied = await manage("PUT", `/recordings/${id}/transcript`, {
    transcript_version: await version(),
    edits: "discard",
    segments: [{ speaker: "Unknown Speaker 2", start: 0, end: 1000, text: "Hello." }],
  });
  assert.equal(supplied.status, 200, supplied.text);
  assert.deepEqual(await voicesOf(id), []);
});

test("a failed transcription keeps no voices", async () => {
  const id = await makeRecording({ participants: ["Anna"] });
  await db.pool.query("update transcriptions set status = 'running' where recording_id = $1", [id]);
  await db.pool.query(
    `insert into transcription_chunks (recording_id, position, start_ms, end_ms, voices)
     values ($1, 0, 0, 1, '{"voices": [{"embedding": [1]}], "turns": []}')`,
    [id],
  );
  await db.kysely.transaction().execute((tx) => markFailed(tx, id, "x", "model"));
  const { rows } = await db.pool.query(
    "select t.status, c.voices from transcriptions t join transcription_chunks c using (recording_id) where recording_id = $1",
    [id],
  );
  assert.deepEqual(rows, [{ status: "failed", voices: null }]);
});

test("profiles belong to the workspace, are deleted with an audit entry, and turning them off deletes voices", async () => {
  const id = await heard();
  const created = await manage("POST", `/recordings/${id}/voices`, {
    speaker: "Unknown Speaker 2",
    name: "Ben",
    consent: true,
  });
  const path = `/voice-profiles/${created.body.id}`;
  const stranger = await makeWorkspace(db);
  assert.equal((await manage("GET", path, undefined, stranger.admin.token)).status, 404);
  assert.equal((await manage("DELETE", path, undefined, stranger.admin.token)).status, 404);
  assert.equal((await asAdmin("DELETE", path)).status, 200);
  assert.equal((await asAdmin("GET", path)).status, 404);
  const left = async () => (await db.pool.query("select 1 from recording_voices")).rowCount;
  assert.ok(((await left()) ?? 0) > 0);
  await deleteOldVoices(db.kysely);
  assert.ok(((await left()) ?? 0) > 0, "voices of this month are kept");
  await db.pool.query(
    "update recording_voices set created_at = now() - interval '31 days' where recording_id = $1",
    [id],
  );
  await deleteOldVoices(db.kysely);
  assert.deepEqual(await voicesOf(id), []);
  await heard();
  await asAdmin("PATCH", "/workspace", { voice_profiles: false });
  assert.equal(await left(), 0);
});
