import assert from "node:assert/strict";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { call } from "../support/call.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { createStages } from "../support/stages.ts";
import { until } from "../support/until.ts";

const fixtures = fileURLToPath(new URL("../fixtures/speech/", import.meta.url));
const server = await prepareServer({
  env: { PARLEY_SWEEP_INTERVAL: "3s", PARLEY_TRANSCRIPTION: "local", PARLEY_TRANSCRIPTION_THREADS: "1" },
});
const dataDir = server.env.PARLEY_DATA_DIR ?? "";
const database = new pg.Client(server.env.PARLEY_DATABASE_URL);
await database.connect();
after(async () => {
  await database.end();
  await server.dispose();
});

/** Where the server is killed besides: in front of these changes, when it has recognized, told speakers apart and finishes. */
const stages = {
  "the second part is recognized":
    "before update on transcription_chunks for each row when (new.position = 1 and old.result is null and new.result is not null)",
  "the second part's speakers are known":
    "before update on transcription_chunks for each row when (new.position = 1 and old.voices is null and new.voices is not null)",
  "the transcript is written": "before insert on transcript_segments",
} as const;

/** Triggers that count what was saved. */
async function countSaved(): Promise<void> {
  await database.query(`
    create table saved (what text);
    create function note_saved() returns trigger language plpgsql as $$ begin
      insert into saved values (tg_argv[0] || ' ' || new.position); return null; end $$;
    create trigger note_result after update on transcription_chunks for each row
      when (new.result is not null and old.result is distinct from new.result) execute function note_saved('words');
    create trigger note_voices after update on transcription_chunks for each row
      when (new.voices is not null and old.voices is distinct from new.voices) execute function note_saved('voices')`);
}

/** Processes of the server's speech engine, which work in its data folder. */
function engines(): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      if (!readlinkSync(`/proc/${name}/cwd`).startsWith(dataDir)) return [];
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes("local/child.ts") ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** Somewhat more than five minutes, so that the recording has two parts. */
function speech(): Buffer {
  const file = readFileSync(join(fixtures, "espeak2.wav"));
  const samples = Buffer.concat(Array.from({ length: 14 }, () => file.subarray(44)));
  const header = Buffer.from(file.subarray(0, 44));
  header.writeUInt32LE(36 + samples.length, 4);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

test("killed in every stage of a transcription by the built-in engine: it resumes, no part is saved twice, times never decrease", async () => {
  const points = await createStages(database, server, stages);
  await countSaved();
  const kill = async (): Promise<void> => {
    await points.kill();
    await until("the engine ends with its server", () => engines().length === 0);
  };
  for (const [name, folder] of [
    ["tiny", "tiny-transducer"],
    ["voices", "voice-lda"],
  ] as const)
    await parley(server, "models", "install", name, "--from", join(fixtures, folder));
  const workspace = await parley(server, "workspace", "create", "--name", "Killed");
  const email = "k@killed.example";
  await parley(server, "user", "create", "--email", email, "--name", "K", "--workspace", workspace);
  const token = await parley(server, "token", "create", "--email", email);
  const send = (method: string, path: string, body?: unknown) =>
    call(server, method, `/_/api/v1${path}`, body, { token, version: null });
  const saved = async () => {
    const { rows } = await database.query<{ what: string }>("select what from saved order by what");
    return rows.map(({ what }) => what);
  };
  const before: string[][] = [];

  await server.start();
  const { body: created } = await send("POST", "/recordings", {
    media: { format: "wav" },
    participants: [{ name: "Anna" }, { name: "Ben" }],
  });
  const { url, headers } = created.upload;
  const sent = await fetch(url.replace("localhost", "127.0.0.1"), { method: "PUT", headers, body: speech() });
  assert.equal(sent.status, 200);
  const recordingId = await until("the upload is a recording", async () => {
    const { body: state } = await send("GET", `/imports/${created.id}`);
    return state.recording_id ?? undefined;
  });
  await until("the engine loads its model", () => engines().length > 0);
  await kill();
  for (const stage of Object.keys(stages) as (keyof typeof stages)[]) {
    before.push(await saved());
    await points.stopAt(stage);
    await server.start();
    await points.hasStopped(stage);
    await kill();
  }
  assert.deepEqual(before, [[], ["words 0"], ["voices 0", "words 0", "words 1"]]);
  assert.deepEqual(await saved(), ["voices 0", "voices 1", "words 0", "words 1"]);

  await server.start();
  const { transcript } = await until("the transcript is there", async () => {
    const { body } = await send("GET", `/recordings/${recordingId}`);
    return body.transcript.transcription.status === "done" ? body : undefined;
  });
  assert.equal(transcript.version, 1);
  assert.deepEqual(await saved(), ["voices 0", "voices 1", "words 0", "words 1"]);
  const { body } = await send("GET", `/recordings/${recordingId}/transcript?words=true`);
  const words = body.segments.flatMap(
    (segment: { words: { start: number; end: number }[] }) => segment.words,
  );
  assert.ok(words.length > 100, `${words.length} words`);
  assert.ok(words.at(-1).start > 302_000, "the second part has words");
  for (const list of [body.segments, words])
    for (const [index, { start, end }] of list.entries())
      assert.ok(start >= (list[index - 1]?.start ?? 0) && end >= start, `${index}: ${start} to ${end}`);
  assert.equal(body.speakers.length, 2);
  // The recording is announced once it is ready.
  const events = await until("the recording is announced", async () => {
    const { rows } = await database.query(
      "select type from events where subject_id = $1 and type like 'recording%' order by id",
      [recordingId],
    );
    return rows.length >= 2 && rows.map(({ type }) => type);
  });
  assert.deepEqual(events, ["recording_added", "recording_updated"]);
  assert.deepEqual(engines(), []);
});
