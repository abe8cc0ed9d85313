import assert from "node:assert/strict";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { sql } from "kysely";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace, mediaFile } from "../../../../test/support/factories.ts";
import { encodeFile } from "../../../processing/media/test/encode.ts";
import { findFileNotices, insertRun } from "../runs/queries.ts";
import { runImport } from "../runs/run.ts";
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
    else
      writeFileSync(
        join(path, file),
        typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content),
      );
  }
  return path;
}

/** Imports into a workspace of its own. @returns its recordings, oldest first, with their transcripts. */
async function importAll(
  kind: (typeof sourceKinds)[number],
  path: string,
  columns: string | null = null,
  { isDryRun = false } = {},
) {
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
    isDryRun,
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
  const fileNotices = await findFileNotices(app.db.kysely, row.id, 10);
  return { result, items, recordings, notes: from.notes?.() ?? [], fileNotices };
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

test("the content decides about files without a known extension; what is not a recording is named as not read", async () => {
  const text = "Ada  0:00\nHello.\n\nBo  0:05\nGood morning.\n";
  const path = write("unknown", {
    "Call.txt": text,
    Call: "media:good-cbr.mp3",
    "Other.txt": text.replace("Hello", "Welcome"),
    "Other.pdf": "%PDF-1.4",
    "Other.mp3.part": "media:good-cbr.mp3",
  });
  const { recordings, notes } = await importAll("otter", path);
  const types = recordings.map(({ title, media_type }: { title: string; media_type: string }) => [
    title,
    media_type,
  ]);
  assert.deepEqual(types.sort(), [
    ["Call", "audio"],
    ["Other", "transcript"],
  ]);
  assert.deepEqual(notes, ["not read: 2 files: Other.mp3.part, Other.pdf"]);
});

/** Each line of the transcripts of Otter's conversations. */
const linesOf = (recordings: readonly { readonly text: string }[]) =>
  recordings.flatMap(({ text }) => text.trimEnd().split("\n"));

test("speakers whom nobody named stay apart in Otter, Zoom, CSV, Fireflies and Fathom", async () => {
  const srt =
    "1\n00:00:01,000 --> 00:00:02,000\nSpeaker 1: Yes?\n\n2\n00:00:03,000 --> 00:00:04,000\nSpeaker 2: No.\n";
  const path = write("unnamed", {
    "otter/talk.srt": srt,
    "zoom/GMT20260115-140000_Recording.transcript.vtt": `WEBVTT\n\n${srt.replaceAll(/(?<=:\d\d),/g, ".")}`,
    "csv/list.csv": "title,start,transcript\nTalk,2026-01-15,talk.srt\n",
    "csv/talk.srt": srt,
    "fireflies/one.json": {
      id: "one",
      date: 1768485600000,
      speakers: [{ id: 7, name: "Ada" }],
      sentences: [
        { text: "Yes?", speaker_name: "", speaker_id: 1, start_time: 1, end_time: 2 },
        { text: "No.", speaker_name: null, speaker_id: "2", start_time: 3, end_time: 4 },
        { text: "Well.", speaker_id: 7, start_time: 5, end_time: 6 },
        { text: "Hm.", start_time: 7, end_time: 8 },
      ],
    },
    "fathom/one.json": {
      recording_id: 1,
      created_at: "2026-01-15T14:00:00Z",
      transcript: [
        { speaker: { display_name: "Speaker 1" }, text: "Yes?", timestamp: "00:00:01" },
        { speaker: { display_name: "Speaker 2" }, text: "No.", timestamp: "00:00:03" },
      ],
    },
  });
  const two = ["Unknown Speaker 1: Yes?", "Unknown Speaker 2: No."];
  for (const kind of ["otter", "zoom", "csv", "fathom"] as const) {
    const { recordings } = await importAll(kind, join(path, kind, kind === "csv" ? "list.csv" : ""));
    assert.deepEqual([kind, linesOf(recordings), recordings[0].participants], [kind, two, []]);
  }
  const { recordings } = await importAll("fireflies", join(path, "fireflies"));
  assert.deepEqual(linesOf(recordings), [...two, "Ada: Well.", "Unknown Speaker: Hm."]);
});

test("Otter: a text without speakers or times is refused and tried again, never imported empty", async () => {
  const path = write("otter-odd", {
    "TALK.SRT": "1\n00:00:01,000 --> 00:00:02,000\nAda: Hello\n",
    "TALK.TXT": "Ada  0:00\nHello\n",
    "plain.txt": "Hello there.\nNobody says who speaks.\n",
    "empty.txt": "",
    "2026-03-04T10-15-22Z narrow.txt": "Ada King 0:00\nHello.\n\nBob 0:05\nHi.",
    "slides.pdf": "%PDF",
  });
  const { result, items, recordings, notes } = await importAll("otter", path);
  assert.deepEqual([result.done, result.failed], [2, 2]);
  assert.deepEqual(linesOf(recordings).toSorted(), ["Ada King: Hello.", "Ada: Hello", "Bob: Hi."]);
  assert.equal(recordings[0].start_datetime, "2026-03-04T10:15:22.000Z");
  assert.deepEqual(notes, ["not read: 1 file: slides.pdf"]);
  assert.match(
    items.find(({ old_id }) => old_id.startsWith("plain"))?.reason ?? "",
    /no line with a speaker/,
  );
  assert.match(items.find(({ old_id }) => old_id.startsWith("empty"))?.reason ?? "", /empty.txt is empty/);
  const useless = write("otter-none", { "slides.pdf": "%PDF" });
  await assert.rejects(importAll("otter", useless), { message: /no recordings .*slides\.pdf/ });
});

test("Fireflies: any form of times and durations is read, and what can't be is counted", async () => {
  const bom = Buffer.from([0xef, 0xbb, 0xbf]);
  const sentences = [{ text: "Hello", speaker_name: "Ada", start_time: 0.5, end_time: 2 }];
  const path = write("fireflies-forms", {
    "bom.json": Buffer.concat([
      bom,
      Buffer.from(JSON.stringify({ id: "bom", date: 1772619300000, duration: 60, sentences })),
    ]),
    "clock.json": { id: "clock", date: "1772619300", duration: "1:00:00", sentences },
    "list.json": [
      { id: "text", dateString: "2026-03-04T10:15:00Z", duration: "60", sentences },
      { id: "words", date: 1772619300, duration: "1 h", sentences },
      { id: "odd", date: "2026-03-04 10:15", duration: "long", sentences: [...sentences, "?"] },
      { id: "nothing", date: 1772619300000, sentences: [] },
      { id: "unclear", date: "03/04/2026", sentences },
    ],
    "unrelated.json": [],
  });
  const { result, items, recordings, notes } = await importAll("fireflies", path);
  assert.deepEqual(
    recordings.map((one: Record<string, unknown>) => [one.start_datetime, one.duration_ms]).toSorted(),
    [
      ["2026-03-04T10:15:00.000Z", 2000],
      ...Array.from({ length: 4 }, () => ["2026-03-04T10:15:00.000Z", 3_600_000]),
    ],
  );
  assert.deepEqual([result.failed, result.omitted], [2, { unreadable_duration: 1, unreadable_sentences: 1 }]);
  assert.match(items.find(({ old_id }) => old_id === "nothing")?.reason ?? "", /has no transcript/);
  assert.match(items.find(({ old_id }) => old_id === "unclear")?.reason ?? "", /write it as 2026-04-03/);
  assert.deepEqual(notes, ["not read: 1 file: unrelated.json"]);
});

test("Zoom: times of a computer's folders are local, and its separate tracks are no meetings", async () => {
  const path = write("zoom-local", {
    "2026-03-04 10.15.22 Topic/video1234567890.mp4": "media:good-faststart.mp4",
    "2026-03-04 10.15.22 Topic/Audio Record/audioAda1234567890.m4a": "media:onestep-aac.m4a",
  });
  const zone = process.env.TZ;
  process.env.TZ = "America/New_York";
  try {
    const { recordings, notes } = await importAll("zoom", path);
    assert.deepEqual(
      recordings.map((one: Record<string, unknown>) => [one.title, one.start_datetime, one.media_type]),
      [["Topic", "2026-03-04T15:15:22.000Z", "video"]],
    );
    assert.match(notes[0] ?? "", /^not read: 1 file: .*audioAda1234567890\.m4a$/);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
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

test("CSV: a list is read in any encoding, with any separator and line ends", async () => {
  const rows = (separator: string, end = "\n") =>
    [
      ["Title", "Start", "Duration"],
      ["Köln", "2026-03-04T10:15:00Z", "600"],
    ]
      .map((row) => row.join(separator) + end)
      .join("");
  const path = write("csv-forms", {
    "tab.csv": rows("\t"),
    "sep.csv": `sep=;\r\n${rows(";", "\r\n")}`,
    "mac.csv": rows(",", "\r"),
    "utf16.csv": Buffer.from(`\ufeff${rows("\t", "\r\n")}`, "utf16le"),
    "latin.csv": Buffer.from(rows(";", "\r\n"), "latin1"),
    "quoted.csv": `"Start";Title;"Notes, if any";Duration\n2026-03-04T10:15:00Z;Köln;;10:00\n`,
  });
  for (const name of ["tab", "sep", "mac", "utf16", "latin", "quoted"]) {
    const { recordings, notes } = await importAll("csv", join(path, `${name}.csv`));
    assert.deepEqual(
      recordings.map((one: Record<string, unknown>) => [
        ...[name, one.title, one.start_datetime, one.duration_ms, one.end_datetime],
      ]),
      [[name, "Köln", "2026-03-04T10:15:00.000Z", 600_000, "2026-03-04T10:25:00.000Z"]],
    );
    if (name === "latin") assert.match(notes[0] ?? "", /read as windows-1252/);
    if (name === "quoted") assert.deepEqual(notes, ["columns that are not used: Notes, if any"]);
  }
});

test("CSV: dates are read in the order that the list shows, and refused where it shows none", async () => {
  const path = write("csv-dates", {
    "shown.csv": "Title,Start\nCertain,15/03/2026 10:15 UTC\nOther,03/04/2026 10:15 UTC\n",
    "unclear.csv": "Title,Start\nIso,2026-04-03T10:15Z\nUnclear,03/04/2026 10:15\n",
  });
  const { recordings, notes } = await importAll("csv", join(path, "shown.csv"));
  assert.deepEqual(
    recordings.map((one: Record<string, unknown>) => one.start_datetime),
    ["2026-03-15T10:15:00.000Z", "2026-04-03T10:15:00.000Z"],
  );
  assert.match(notes[0] ?? "", /read day-first/);
  const { result, items } = await importAll("csv", join(path, "unclear.csv"));
  assert.deepEqual([result.done, result.failed], [1, 1]);
  assert.match(items.find(({ reason }) => reason !== null)?.reason ?? "", /write it as 2026-04-03T10:15:00/);
});

test("a dry run finds what an import refuses or leaves out, and imports and creates nothing", async () => {
  const path = write("csv-check", {
    "list.csv":
      "title,start,duration,media,tags\nGood,2026-03-04T10:15Z,600,,\nLost,2026-03-04T10:15Z,,lost.mp3,\nOdd,2026-03-04T10:15Z,long,,\nLate,2999-03-04T10:15Z,,,\n",
  });
  const list = join(path, "list.csv");
  const checked = await importAll("csv", list, null, { isDryRun: true });
  assert.deepEqual([checked.result.done, checked.result.failed, checked.recordings.length], [0, 2, 0]);
  const { result, items } = await importAll("csv", list);
  assert.deepEqual([result.done, result.failed], [2, 2]);
  assert.deepEqual(checked.result.omitted, result.omitted);
  assert.deepEqual(result.omitted, { unreadable_duration: 1 });
  assert.deepEqual(
    checked.items,
    items.filter(({ reason }) => reason !== null),
  );
});

test("CSV: a list of which no row can be read is refused with the reason", async () => {
  const path = write("csv-refused", {
    "empty.csv": "\n",
    "header.csv": "title,start\n",
    "other.csv": "name;when\na;b\n",
    "quote.csv": 'title,start\n"a,2026-03-04\n',
    "cells.csv": "title,start\nBudget, part 2,2026-03-04\n",
  });
  for (const [name, message] of [
    ["empty", /list is empty/],
    ["header", /has no rows/],
    ["other", /--columns start=NAME. The file has: name, when/],
    ["quote", /Quote Not Closed/],
  ] as const)
    await assert.rejects(importAll("csv", join(path, `${name}.csv`)), { message });
  const { result, items } = await importAll("csv", join(path, "cells.csv"));
  assert.deepEqual([result.done, result.failed], [0, 1]);
  assert.match(items[0]?.reason ?? "", /line 2 has 3 cells and the header 2/);
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

test("a list names its files and speakers with other code points than the folder and the transcript", async () => {
  const [composed, apart] = (["NFC", "NFD"] as const).map((form) => "Zoë é".normalize(form));
  const path = write("code-points", {
    "list.csv": `title,start,participants,media,transcript\nOne,2026-01-02T03:04:05Z,${composed},${composed}/a.mp3,${composed}/a.vtt\n`,
    [`${apart}/a.mp3`]: "media:good-cbr.mp3",
    [`${apart}/a.vtt`]: `WEBVTT\n\n00:00.000 --> 00:01.000\n<v ${apart}>Hello.\n`,
  });
  const { items, recordings } = await importAll("csv", join(path, "list.csv"));
  const [one] = recordings;
  assert.equal(one?.media_type, "audio", JSON.stringify(items));
  assert.deepEqual(
    one.participants.map(({ name }: { name: string }) => name),
    [composed],
  );
});

test("JSON exports: one part of a meeting that can't be read is counted, and never stops the others", async () => {
  const sentences = [{ text: "Hello", speaker_name: "Ada", start_time: 0.5, end_time: 2 }];
  const date = 1772619300000;
  const path = write("parts", {
    "fireflies/one.json": [
      {
        id: "attendees",
        date,
        sentences,
        title: 7,
        meeting_attendees: [null, { email: "ada@else.example" }],
      },
      { id: "date", date: "soon", dateString: "2026-03-04T10:15:00Z", sentences, summary: 5 },
      { id: "late", date: 1e20, sentences },
      { id: "long", date, sentences: [...sentences, { text: "Later", start_time: 1e99, end_time: "1e99" }] },
      { id: "summary", date, summary: { overview: "They met.", action_items: ["Send it", "Read it"] } },
    ],
    "fathom/one.json": [
      {
        recording_id: 1,
        created_at: "2026-03-04T10:15:00Z",
        recording_start_time: "soon",
        calendar_invitees: ["ada"],
        action_items: [null, { description: "Send it", assignee: "Ada" }],
        transcript: [{ speaker: { display_name: "Ada" }, text: "Hello", timestamp: "00:00:05" }],
      },
      { recording_id: 2, created_at: "2026-03-04T10:15:00Z", transcript: "Ada: Hello" },
    ],
  });
  const { result, items, recordings } = await importAll("fireflies", join(path, "fireflies"));
  assert.deepEqual(
    items.flatMap(({ old_id, reason }) => (reason === null ? [] : [[old_id, reason]])),
    [["late", "one.json: date is not a date"]],
  );
  assert.deepEqual(result.omitted, {
    unreadable_participants: 1,
    unreadable_summaries: 1,
    unreadable_times: 3,
  });
  assert.deepEqual(
    recordings.map((one: Record<string, unknown>) => one.start_datetime),
    Array.from({ length: 4 }, () => "2026-03-04T10:15:00.000Z"),
  );
  assert.deepEqual(
    recordings.flatMap((one: { ai_action_items: unknown[] }) => one.ai_action_items).length,
    2,
  );
  const fathom = await importAll("fathom", join(path, "fathom"));
  assert.deepEqual(fathom.result.omitted, {
    unreadable_action_items: 1,
    unreadable_participants: 1,
    unreadable_times: 1,
  });
  assert.match(fathom.items.find(({ old_id }) => old_id === "2")?.reason ?? "", /1 unreadable sentence$/);
});

test("Otter: names with other code points, an assumed encoding and subtitles named as a text", async () => {
  const [composed, apart] = (["NFC", "NFD"] as const).map((form) => "Café é".normalize(form));
  const path = write("otter-names", {
    [`${composed}.txt`]: "Ada  0:00\nNot this one.\n",
    [`${apart}.srt`]: "1\n00:00:01,000 --> 00:00:02,000\nAda: Hello.\n",
    [`${composed}.mp3`]: "media:good-cbr.mp3",
    "latin.txt": Buffer.from("Zo\u00eb  0:00\nHi.\n", "latin1"),
    "cues.txt": "1\n00:00:01,000 --> 00:00:02,000\nBo: Yes.\n",
  });
  const { result, recordings, notes } = await importAll("otter", path);
  assert.deepEqual([result.done, result.failed], [3, 0]);
  assert.deepEqual(linesOf(recordings).toSorted(), ["Ada: Hello.", "Bo: Yes.", "Zoë: Hi."]);
  assert.equal(recordings.filter((one: { media_type: string }) => one.media_type === "audio").length, 1);
  assert.match(notes.join("\n"), /^latin\.txt: .*read as windows-1252/);
});

test("CSV: rows that repeat an id are reported, and a recording without an extension or title is imported", async () => {
  const path = write("csv-rows", {
    "ids.csv": "id,title,start\n1,One,2026-03-04T10:15Z\n1,Two,2026-03-05T10:15Z\n",
    "rows.csv": "title,start\nOne,2026-03-04T10:15Z\nOne,2026-03-04T10:15Z\n",
    "files.csv":
      "title,start,media\n,2026-03-04T10:15Z,calls/Board talk.mp3\nBare,2026-03-05T10:15Z,calls/bare\nText,2026-03-06T10:15Z,calls/notes.doc\n",
    "calls/Board talk.mp3": "media:good-cbr.mp3",
    "calls/bare": "media:good-cbr.mp3",
    "calls/notes.doc": "only words",
  });
  for (const [name, reason] of [
    ["ids", "line 3 has the same id as line 2; each row needs its own"],
    ["rows", "line 3 repeats line 2; remove one, or add a column id"],
  ] as const) {
    const { result, items, recordings } = await importAll("csv", join(path, `${name}.csv`));
    assert.deepEqual([result.done, result.failed, recordings[0].title], [1, 1, "One"]);
    assert.equal(items.find((one) => one.reason !== null)?.reason, reason);
  }
  const { items, recordings } = await importAll("csv", join(path, "files.csv"));
  assert.deepEqual(
    recordings.map((one: Record<string, unknown>) => [one.title, one.media_type]),
    [
      ["Board talk", "audio"],
      ["Bare", "audio"],
    ],
  );
  assert.equal(
    items.find(({ reason }) => reason !== null)?.reason,
    "notes.doc is a text and not a recording",
  );
});

test("a recording that was cut off is imported, and the run says how much was kept", async () => {
  const whole = join(folder, "whole.mp4");
  encodeFile(whole, {
    ...{ format: "mp4", seconds: 16, audio: [{ codec: "aac" }] },
    video: { codec: "libx264", keyframeSec: 1 },
    options: { movflags: "frag_keyframe+empty_moov" },
  });
  const file = readFileSync(whole);
  const path = write("cut", {
    "list.csv": "id,start,media\nOne,2026-03-04T10:15Z,crashed.mp4\n",
    "crashed.mp4": file.subarray(0, Math.floor(file.length * 0.8)),
  });
  const { result, recordings, fileNotices } = await importAll("csv", join(path, "list.csv"));
  assert.deepEqual([result.done, recordings[0].title], [1, "crashed"]);
  assert.match(fileNotices.join("\n"), /^One: The file ends early: 1[1-3] seconds were kept/);
});
