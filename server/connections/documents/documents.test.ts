import assert from "node:assert/strict";
import { test } from "node:test";
import { strFromU8, unzipSync } from "fflate";
import { startTestApp } from "../../../test/support/app.ts";
import { maxBlockingMs } from "../../../test/support/blocking-time.ts";
import { makeRecording, makeUser, makeWorkspace, unknownId } from "../../../test/support/factories.ts";
import { auditOf } from "../../people/accounts/test/accounts.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";
import { createWordWriter } from "./word-writer.ts";

// Runs alone: it measures how long the event loop is blocked.

const app = await startTestApp();
const { manage } = dataTools(app);
const workspace = await makeWorkspace(app.db);
const { member } = workspace;

const participantId = unknownId();
const { recordingId } = await makeRecording(app, member.token, {
  title: 'Plan: "Q4" <draft> & more',
  participants: [
    { id: participantId, name: "דנה כהן", email: "dana@x.example" },
    { id: unknownId(), name: "Ada Lovelace", email: "ada@x.example" },
  ],
  transcript: {
    language: "he",
    segments: [
      { speaker_key: "1", participant_id: participantId, start: 0, end: 2000, text: "שלום לכולם." },
      { speaker_key: "1", participant_id: participantId, start: 2000, end: 4000, text: "נתחיל." },
      { speaker_key: "2", start: 61_500, end: 63_000, text: "We ship in December 这是计划 \u0001." },
    ],
  },
});
const summary = `# Decisions

We **ship** in *December*, see [the plan](https://example.com/plan?a=1&b=2) and [not this](javascript:alert(1)).

1. First
2. Second

| Risk | Owner |
| --- | --- |
| late \\| early | Ada |`;
const { rows: speakers } = await app.db.pool.query(
  "select id from participants where recording_id = $1 and email = 'dana@x.example'",
  [recordingId],
);
await app.db.pool.query(
  `update recordings set ai_summary = $2, tags = '{q4}', ai_template_sections = $3, ai_action_items = $4 where id = $1`,
  [
    recordingId,
    summary,
    JSON.stringify([{ title: "To check", data: {}, markdown: "- [x] Budget\n- [ ] Room", text: "" }]),
    JSON.stringify([
      {
        ...{ id: unknownId(), status: "pending", timestamp: 61_500, text: "Write the notes", quote: "" },
        ...{ assignee_id: speakers[0].id, due_on: "2026-12-01" },
      },
    ]),
  ],
);

const path = `/recordings/${recordingId}/document`;
async function word(query = "", token = member.token) {
  const response = await fetch(`${app.url}/_/api/v1${path}.docx${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(response.status, 200);
  return { response, ...filesOf(new Uint8Array(await response.arrayBuffer())) };
}
function filesOf(bytes: Uint8Array) {
  const files = unzipSync(bytes);
  const read = (name: string): string => strFromU8(files[name] ?? new Uint8Array());
  return { read, xml: read("word/document.xml") };
}
/** The text of each paragraph. */
const paragraphsOf = (xml: string): string[] =>
  [...xml.matchAll(/<w:p>.*?<\/w:p>/gs)].map(([paragraph]) =>
    [...paragraph.matchAll(/<w:t(?: [^>]*)?>([^<]*)<\/w:t>/g)].map(([, text = ""]) => text).join(""),
  );

test("the Word document has the parts asked for, with headings, tables and links to moments", async () => {
  const { response, xml, read } = await word("?time_zone=Europe/Berlin");
  assert.match(
    response.headers.get("content-type") ?? "",
    /^application\/vnd\.openxmlformats-officedocument\.wordprocessingml\.document$/,
  );
  assert.match(
    response.headers.get("content-disposition") ?? "",
    /^attachment; filename="Plan- -Q4- -draft- & more\.docx"/,
  );
  const texts = paragraphsOf(xml);
  const order = [
    "Plan: ",
    "Summary",
    "Decisions",
    "First",
    "To check",
    "☑ Budget",
    "Action items",
    "Transcript",
  ];
  const places = order.map((start) => texts.findIndex((text) => text.startsWith(start)));
  assert.ok(
    places.every((place, i) => place > (places[i - 1] ?? -1)),
    `${places}`,
  );
  assert.ok(
    texts.some((text) => /^\w+ \d+, \d{4} at \d+:\d\d [AP]M GMT\+[12] · /.test(text)),
    "as in emails",
  );
  assert.ok(texts.includes("This recording has no chapters and no highlights."));
  assert.ok(texts.includes("שלום לכולם. נתחיל."), "what one speaker says in a row is one paragraph");
  assert.equal(xml.match(/<w:tbl>/g)?.length, 2);
  for (const cell of ["late | early", "Write the notes", "דנה כהן", "2026-12-01"])
    assert.ok(texts.includes(cell), cell);
  assert.equal(xml.match(/w:pStyle w:val="Heading1"/g)?.length, 3);
  assert.match(xml, /<w:tblHeader\/>/);
  const links = read("word/_rels/document.xml.rels");
  assert.ok(links.includes(`/recordings/${recordingId}?t=61.5"`));
  assert.ok(links.includes("https://example.com/plan?a=1&amp;b=2"));
  assert.ok(!links.includes("javascript"));
  assert.match(read("word/footer1.xml"), /PAGE.*NUMPAGES/s);
});

test("the Word document has the meeting's language, and each paragraph the direction of its text", async () => {
  const { xml, read } = await word();
  assert.match(read("word/styles.xml"), /<w:lang [^>]*w:bidi="he-IL"/);
  const paragraphs = [...xml.matchAll(/<w:p>.*?<\/w:p>/gs)].map(([paragraph]) => paragraph);
  const of = (text: string): string => paragraphs.find((paragraph) => paragraph.includes(text)) ?? "";
  assert.match(of("שלום"), /<w:bidi\/>.*<w:rtl\/>/s);
  assert.doesNotMatch(of("We ship in December"), /<w:bidi\/>|<w:rtl\/>/);
  assert.ok(xml.includes("这是计划 ."), "a character that XML can't contain is left out");
});

test("only the parts asked for are in a document; one that is missing is named and has no heading", async () => {
  const { xml } = await word("?parts=chapters,action_items");
  const texts = paragraphsOf(xml);
  assert.ok(texts.includes("Action items") && texts.includes("This recording has no chapters."));
  for (const absent of ["Chapters", "Summary", "Transcript"]) assert.ok(!texts.includes(absent), absent);
  const { body } = await manage("GET", `${path}?parts=transcript,highlights`, member.token);
  assert.deepEqual([body.summary, body.action_items, body.missing], [null, [], ["highlights"]]);
  assert.deepEqual(
    body.transcript.map(({ timestamp }: { timestamp: number }) => timestamp),
    [0, 61_500],
  );
});

test("documents are for users who see the recording; a download is in the audit log", async () => {
  const other = await makeUser(app.db, workspace);
  for (const form of ["", ".docx"]) {
    assert.equal((await manage("GET", path + form, other.token)).status, 404);
    for (const query of ["?parts=summary,notes", "?parts=summary,,transcript"])
      assert.equal((await manage("GET", path + form + query, member.token)).status, 400, query);
  }
  assert.equal((await manage("GET", `${path}.docx?time_zone=Mars/Crater`, member.token)).status, 400);
  const entries = await auditOf(app.db, workspace.id);
  const own = entries.filter(
    ({ subject_id: id, action }) => id === recordingId && action === "recording_downloaded",
  );
  assert.deepEqual(
    own.map(({ user_id }) => user_id),
    [member.id],
  );
});

test("writing a long transcript keeps no other request waiting", async () => {
  const { body } = await manage("GET", path, member.token);
  const [turn] = body.transcript;
  const transcript = Array.from({ length: 2000 }, (_, i) => ({ ...turn, timestamp: i * 1000 }));
  const writer = createWordWriter();
  let bytes: Uint8Array = new Uint8Array();
  const blocked = await maxBlockingMs(async () => {
    bytes = await writer.write({ ...body, transcript }, "UTC");
  });
  assert.equal(paragraphsOf(filesOf(bytes).xml).filter((text) => text === turn.text).length, 2000);
  assert.ok(blocked < 200, `${blocked} ms`);
});
