import assert from "node:assert/strict";
import { test } from "node:test";
import { listTrash } from "../../contract/recordings/recording-management.ts";
import { removeTag } from "../../contract/recordings/recording-operations.ts";
import "../support/web-texts.ts";

const { urlOf } = await import("../../web/api/client/call.ts");
const { segmentAt } = await import("../../web/common/segments.ts");
const { talkShare, timelinePath } = await import("../../web/common/speakers.ts");
const { captionsOf } = await import("../../web/player/captions.ts");
const { whoSees } = await import("../../web/recording/share/who-sees.ts");
const { findHits, fold } = await import("../../web/transcript/find.ts");

const segment = (start: number, end: number, text: string, speaker = "Ana") => ({
  index: 0,
  participant_id: null,
  speaker,
  start,
  end,
  text,
  is_edited: false,
});

test("find: ignores case and accents, and match offsets are valid in the original text", () => {
  const texts = ["Café, CAFÉ and cafe", "İstanbul ß straße", "שלום", "👍🏽 naïve"];
  for (const text of texts) assert.equal(fold(text).length, text.length, text);
  const folded = texts.map(fold);
  const found = (query: string) =>
    findHits(folded, query).map(({ index, from, to }) => texts[index]?.slice(from, to));
  assert.deepEqual(found("café"), ["Café", "CAFÉ", "cafe"]);
  assert.deepEqual(found(" NAIVE "), ["naïve"]);
  assert.deepEqual(found("שלום"), ["שלום"]);
  assert.deepEqual([found(""), found("  "), found("(.*)")], [[], [], []]);
});

test("find: the segment at a position", () => {
  const segments = [segment(100, 200, "a"), segment(200, 300, "b"), segment(500, 600, "c")];
  assert.deepEqual(
    [0, 100, 199, 200, 499, 500, 9999].map((ms) => segmentAt(segments, ms)),
    [-1, 0, 0, 1, 1, 2, 2],
  );
  assert.equal(segmentAt([], 5), -1);
});

test("captions: WebVTT with names where the speaker changes, long texts split, tags escaped", () => {
  const long = "word ".repeat(40).trim();
  const text = captionsOf(
    [
      segment(0, 1000, "a <b>bold</b> claim & more"),
      segment(1000, 2000, "still me"),
      segment(3_600_000, 3_610_000, long, "Bo"),
    ],
    null,
  );
  assert.ok(text.startsWith("WEBVTT\n\n00:00:00.000 --> 00:00:01.000 "));
  assert.match(text, /\nAna: a &lt;b&gt;bold&lt;\/b&gt; claim &amp; more\n/);
  assert.match(text, /\nstill me\n/);
  const pieces = text.split("\n\n").filter((cue) => cue.includes("word"));
  assert.ok(pieces.length >= 3 && pieces.every((cue) => (cue.split("\n")[1] ?? "").length < 90));
  assert.match(pieces[0] ?? "", /^01:00:00\.000 --> /);
  assert.match(pieces.at(-1) ?? "", /--> 01:00:10\.000 /);
});

test("speaker timeline: bounded path size for any number of segments; shares of talk time", () => {
  const segments = Array.from({ length: 50_000 }, (_, i) => segment(i * 100, i * 100 + 10, "x"));
  const path = timelinePath(segments, 5_000_000, 800);
  assert.ok((path.match(/M/g) ?? []).length <= 400);
  assert.equal(timelinePath([segment(0, 500, "x")], 1000, 100), "M0 0H50V1H0Z");
  const speakers = [1, 3].map((duration_ms) => ({
    participant_id: null,
    name: "x",
    segments: 1,
    duration_ms,
  }));
  assert.deepEqual(
    speakers.map((one) => talkShare(one, speakers)),
    [25, 75],
  );
});

test("sharing: the sentence names everyone with access once, with the reason", () => {
  const ana = { id: "1", name: "Ana", email: "ana@x.example" };
  const bo = { id: "2", name: "Bo", email: "Bo@x.example" };
  const facts = {
    recording: { share_state: "restricted" as const, recorders: [ana], teams: [{ id: "t", name: "Sales" }] },
    participants: [ana, bo].map(({ id, name, email }) => ({
      id,
      name,
      email: email.toLowerCase(),
      scope: "internal" as const,
      confirmed_attendee: true,
      observed_join_time: null,
      observed_leave_time: null,
      crm_contact_id: null,
      phone: null,
      attended: true,
      is_invited: false,
      lacks_access: false,
    })),
    shared_users: [],
  };
  assert.equal(
    whoSees(facts, "Acme", [ana, bo]),
    "Visible to Ana (owner), Bo (participant), the team Sales, and workspace apps.",
  );
  const onlyInvited = (lacks_access: boolean) => ({
    ...facts,
    participants: facts.participants.map((one) => ({ ...one, is_invited: true, lacks_access })),
  });
  const [, invitedBo] = onlyInvited(true).participants;
  assert.ok(invitedBo);
  assert.equal(
    whoSees({ ...facts, participants: [invitedBo] }, "Acme", [ana, bo]),
    "Visible to Ana (owner), the team Sales, and workspace apps. Invited, without access until their attendance is confirmed in the People tab: Bo.",
  );
  assert.equal(
    whoSees(onlyInvited(false), "Acme", [ana, bo]),
    "Visible to Ana (owner), the team Sales, and workspace apps.",
  );
  const open = { ...facts, recording: { ...facts.recording, share_state: "public" as const } };
  assert.match(whoSees(open, "Acme", [ana, bo], "some"), /anyone with a public link/);
  assert.match(
    whoSees(open, "Acme", [ana, bo], "none"),
    /^Visible to everyone in Acme\. It has no public link/,
  );
  assert.match(
    whoSees(open, "Acme", [ana, bo], "expired"),
    /^Visible to everyone in Acme\. .* links have expired/,
  );
});

test("a request's URL escapes the values in its path, and has no query parameters without a value", () => {
  const params = { recording_id: "a/b", tag: "50 %" };
  assert.equal(urlOf(removeTag, { params }), "/_/public-api/v2/recordings/a%2Fb/tags/50%20%25");
  assert.equal(urlOf(listTrash, { query: { cursor: null } }), "/_/api/v1/trash");
  assert.equal(urlOf(listTrash, { query: { cursor: "c" } }), "/_/api/v1/trash?cursor=c");
});
