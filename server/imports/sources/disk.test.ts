import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { sql } from "kysely";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace, mediaFile } from "../../../test/support/factories.ts";
import { insertRun } from "../move/queries.ts";
import { runImport } from "../move/run.ts";
import { openSource, type sourceKinds } from "./index.ts";

const app = await startTestApp();
const folder = mkdtempSync(join(tmpdir(), "parley-disk-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes an export, with files by their names; a string that begins with `media:` names a fixture. */
function write(name: string, files: Readonly<Record<string, unknown>>): string {
  const path = join(folder, name);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    if (typeof content === "string" && content.startsWith("media:"))
      copyFileSync(mediaFile(content.slice(6)), join(path, file));
    else writeFileSync(join(path, file), typeof content === "string" ? content : JSON.stringify(content));
  }
  return path;
}

/** Imports into a workspace of its own. @returns its recordings, oldest first, with their transcripts. */
async function importAll(kind: (typeof sourceKinds)[number], path: string, columns: string | null = null) {
  const workspace = await makeWorkspace(app.db);
  await sql`update users set email = ${`host@${workspace.domain}`} where id = ${workspace.member.id}`.execute(
    app.db.kysely,
  );
  const from = await openSource(kind, {
    path,
    baseUrl: null,
    allowHttp: false,
    token: null,
    columns,
    config: app.config,
  });
  const row = await insertRun(app.db.kysely, {
    workspaceId: workspace.id,
    createdBy: workspace.admin.id,
    source: from.kind,
    origin: from.origin,
    token: null,
    isDryRun: false,
  });
  const result = await runImport(app, row, from);
  const { rows: items } = await sql<{ old_id: string; reason: string | null }>`
    select old_id, reason from import_items where run_id = ${row.id} order by old_id`.execute(app.db.kysely);
  const include = { participants: true, ai_summary: true, ai_action_items: true };
  const { body } = await call(app, "POST", "/recordings", { include }, { token: workspace.token });
  const recordings = body.recordings.toReversed();
  for (const recording of recordings)
    recording.text = (
      await call(app, "GET", `/recordings/${recording.id}/transcript.txt`, undefined, {
        token: workspace.token,
      })
    ).text;
  return { result, items, recordings };
}

test("Fireflies: sentences, attendees, summary, action items and audio of the same id", async () => {
  const path = write("fireflies", {
    "one.json": {
      data: {
        transcript: {
          id: "FF1",
          title: "Kick-off",
          date: 1713201000000,
          duration: 0.5,
          host_email: "ada@else.example",
          meeting_attendees: [
            { displayName: "Ada", email: "ada@else.example" },
            { email: "bo@else.example" },
          ],
          sentences: [
            { index: 0, speaker_name: "Ada", text: "Hello.", start_time: "0.5", end_time: "2.25" },
            { index: 1, speaker_name: "Bo", raw_text: "Hi.", start_time: 3, end_time: 4 },
          ],
          summary: { overview: "They met.", action_items: "**Ada**\n- Send the plan\n" },
        },
      },
    },
    "FF1.mp3": "media:good-cbr.mp3",
    "two.json": { data: { transcripts: [{ id: "FF2", date: "yesterday" }] } },
    "three.json": "{",
  });
  const { result, items, recordings } = await importAll("fireflies", path);
  assert.deepEqual([result.done, result.failed], [1, 2]);
  assert.match(items.find(({ old_id }) => old_id === "FF2")?.reason ?? "", /date is not a date/);
  const [one] = recordings;
  assert.deepEqual(
    [one.title, one.start_datetime, one.media_type, one.ai_summary.text, one.text],
    ["Kick-off", "2024-04-15T17:10:00.000Z", "audio", "They met.", "Ada: Hello.\nBo: Hi.\n"],
  );
  assert.deepEqual(
    one.participants.map(({ name, email, scope }: Record<string, string>) => [name, email, scope]),
    [
      ["Ada", "ada@else.example", "external"],
      ["bo@else.example", "bo@else.example", "external"],
      ["Bo", null, "unknown"],
    ],
  );
  assert.deepEqual(one.ai_action_items[0].text, "Send the plan");
});

test("Fathom: a page of List Meetings with transcript, invitees, summary and assignees", async () => {
  const path = write("fathom", {
    "page.json": {
      limit: 1,
      next_cursor: null,
      items: [
        {
          title: "Review",
          recording_id: 123,
          url: "https://fathom.video/calls/123",
          created_at: "2025-03-01T17:02:00Z",
          recording_start_time: "2025-03-01T16:01:00Z",
          recording_end_time: "2025-03-01T16:02:00Z",
          transcript_language: "en",
          calendar_invitees: [{ name: "Cleo", email: "cleo@else.example", is_external: true }],
          recorded_by: { name: "Host", email: "nobody@else.example", team: "Sales" },
          transcript: [
            {
              speaker: { display_name: "Cleo Ng", matched_calendar_invitee_email: "cleo@else.example" },
              text: "One",
              timestamp: "00:00:05",
            },
            { speaker: { display_name: "Dan" }, text: "Two", timestamp: "00:00:32" },
          ],
          default_summary: { template_name: "general", markdown_formatted: "## Summary" },
          action_items: [
            {
              description: "Reply",
              completed: true,
              recording_timestamp: "00:00:32",
              assignee: { name: "Cleo", email: "cleo@else.example" },
            },
          ],
        },
      ],
    },
  });
  const { result, recordings } = await importAll("fathom", path);
  assert.deepEqual([result.done, result.omitted], [1, { recorders_without_user: 1 }]);
  const [one] = recordings;
  assert.deepEqual(
    [one.title, one.start_datetime, one.duration_ms, one.ai_summary.text, one.text],
    ["Review", "2025-03-01T16:01:00.000Z", 60_000, "## Summary", "Cleo Ng: One\nDan: Two\n"],
  );
  const [item] = one.ai_action_items;
  assert.deepEqual([item.status, item.timestamp, item.assignee.name], ["completed", 32_000, "Cleo Ng"]);
});

test("Otter: text and SubRip, with the audio of the same name", async () => {
  const path = write("otter", {
    "Weekly_otter_ai.txt":
      "Ada Lovelace  0:00  \nFirst words\nmore words.\n\nBo  1:02:03\nLast.\n\nTranscribed by https://otter.ai\n",
    "Call.txt": "Ada  0:00\nNot this one.\n",
    "Call.srt": "1\n00:00:01,000 --> 00:00:02,000\nAda: From SubRip.\n",
    "Call.mp3": "media:good-cbr.mp3",
  });
  const { result, recordings } = await importAll("otter", path);
  assert.equal(result.done, 2);
  const byTitle = Object.fromEntries(recordings.map((one: { title: string }) => [one.title, one]));
  assert.equal(byTitle.Weekly.text, "Ada Lovelace: First words more words.\nBo: Last.\n");
  assert.deepEqual([byTitle.Call.text, byTitle.Call.media_type], ["Ada: From SubRip.\n", "audio"]);
});

test("Zoom: one recording per meeting of the cloud or a computer, from the best rendition, with its captions", async () => {
  const vtt = "WEBVTT\n\n1\n00:00:01.000 --> 00:00:03.000\nAda: Zoom says.\n";
  const path = write("zoom", {
    "GMT20260115-140000_Recording.transcript.vtt": vtt,
    "GMT20260115-140000_Recording_1280x720.mp4": "media:good-faststart.mp4",
    "GMT20260115-140000_Recording.m4a": "media:onestep-aac.m4a",
    "GMT20260115-150000_Recording.transcript.vtt": vtt,
    "2026-01-16 09.30.00 Board meeting/audio1234.m4a": "media:onestep-aac.m4a",
    "2026-01-16 09.30.00 Board meeting/chat.txt": "hello",
  });
  const { result, recordings } = await importAll("zoom", path);
  assert.deepEqual([result.done, result.failed], [3, 0]);
  assert.deepEqual(
    recordings.map((one: Record<string, string>) => [
      one.title,
      one.start_datetime,
      one.media_type,
      one.source,
    ]),
    [
      ["Zoom meeting GMT20260115-140000", "2026-01-15T14:00:00.000Z", "video", "zoom"],
      ["Zoom meeting GMT20260115-150000", "2026-01-15T15:00:00.000Z", "transcript", "zoom"],
      ["Board meeting", "2026-01-16T09:30:00.000Z", "audio", "zoom"],
    ],
  );
  assert.equal(recordings[0].text, "Ada: Zoom says.\n");
});

test("CSV: mapped columns, quoted cells, and no file outside of the folder", async () => {
  const path = write("csv", {
    "list.csv":
      'Name;Date;File;Subtitles;People;tags\n"Board; ""Q1""";2024-02-03T10:00:00Z;a/x.mp3;a/x.vtt;Ada <ada@else.example>;\nBad date;soon;;;;\nOutside;2024-02-03;../zoom/GMT20260115-140000_Recording.m4a;;;\n',
    "a/x.mp3": "media:good-cbr.mp3",
    "a/x.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ada>Yes.\n",
  });
  const columns = "title=Name,start=Date,media=File,transcript=Subtitles,participants=People";
  const { result, items, recordings } = await importAll("csv", join(path, "list.csv"), columns);
  assert.deepEqual([result.done, result.failed], [1, 2]);
  assert.deepEqual([recordings[0].title, recordings[0].text], ['Board; "Q1"', "Ada: Yes.\n"]);
  assert.deepEqual(
    items.flatMap(({ reason }) => reason ?? []).map((reason) => reason.split(" ").slice(0, 2).join(" ")),
    ["../zoom/GMT20260115-140000_Recording.m4a is", "the start"],
  );
  const failing = (mapping: string) =>
    openSource("csv", {
      path: join(path, "list.csv"),
      baseUrl: null,
      allowHttp: false,
      token: null,
      columns: mapping,
      config: app.config,
    });
  await assert.rejects(failing("start=When"), { message: /no column When; it has: Name, Date/ });
  await assert.rejects(failing("length=Date"), { message: /length is not a field/ });
});

test("a list that is far too long is not read, and a service without https is not connected", async () => {
  const path = write("long", { "export.json": "{" });
  truncateSync(join(path, "export.json"), 65 * 1024 * 1024);
  const options = { path, baseUrl: null, allowHttp: false, token: null, columns: null, config: app.config };
  await assert.rejects(openSource("parley", options), { message: /is longer than 67108864 bytes/ });
  await assert.rejects(openSource("grain", { ...options, baseUrl: "http://10.0.0.1", token: "t" }), {
    message: /--allow-http/,
  });
});
