import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { test } from "node:test";
import { completeFields } from "../../../contract/recordings/fields.ts";
import { makeUser } from "../../../test/support/factories.ts";
import type { Tx } from "../../platform/db/database.ts";
import { createRecording } from "../../recordings/recordings/create.ts";
import { startIntelligence } from "../intelligence/test/intelligence.ts";
import { answering, askQuestion, only } from "./test/asking.ts";
import { type SpokenMeeting, spokenMeetings } from "./test/meetings.ts";
import { questions } from "./test/questions.ts";

const lineMs = 10_000;
const { app, db, model, workspace } = await startIntelligence();

const meetings = new Map<string, SpokenMeeting>();
await db.kysely.transaction().execute(async (tx) => {
  for (const meeting of spokenMeetings()) meetings.set(await insert(tx, meeting), meeting);
});

/** A recording that the whole workspace sees. */
async function insert(tx: Tx, { title, language, lines }: SpokenMeeting): Promise<string> {
  const id = randomUUIDv7();
  const start = new Date();
  const people = [...new Set(lines.map(([name]) => name))].map((name) => ({
    ...{ id: randomUUIDv7(), name, email: null, phone: null },
    ...{ scope: "internal" as const, confirmed_attendee: true, attended: true },
  }));
  const segments = lines.map(([name, text], n) => ({
    participant_id: people.find((person) => person.name === name)?.id ?? null,
    ...{ speaker: name, text, start_ms: n * lineMs, end_ms: (n + 1) * lineMs },
  }));
  const values = {
    ...completeFields({}),
    ...{ id, title, workspace_id: workspace.id, meeting_type_id: null, media_type: "transcript" as const },
    ...{ start_datetime: start, end_datetime: start, duration_ms: segments.length * lineMs, external: false },
    ...{ share_state: "workspace" as const, transcript_language: language },
  };
  await createRecording(tx, { values, participants: people, segments });
  return id;
}

/** Where a meeting says something. */
function momentsOf(answer: string): { id: string; start: number }[] {
  return [...meetings].flatMap(([id, { lines }]) =>
    lines.flatMap(([, text], n) => (text.includes(answer) ? [{ id, start: n * lineMs }] : [])),
  );
}

/** The place of the first passage that answers a question, among those that an answer reads; infinite if there is none. */
async function placeOf(question: string, answers: readonly string[]): Promise<number> {
  const moments = answers.flatMap(momentsOf);
  // A user for each question: ten a minute are answered.
  const { token } = await makeUser(db, workspace);
  const passages = only(await askQuestion(app, token, { question }), "passage");
  assert.ok(passages.length <= 40);
  const place = passages.findIndex(({ recording_id, start, end }) =>
    moments.some((moment) => moment.id === recording_id && start <= moment.start && moment.start < end),
  );
  return place < 0 ? Number.POSITIVE_INFINITY : place + 1;
}

/** How many of the 60 questions have a passage with the reply among the 40. */
async function countFound(report: (text: string) => void): Promise<{ found: number; missed: string }> {
  // The model finds no better searches, and says nothing.
  model.otherwise(answering(() => []));
  const all = Object.values(questions).flat();
  assert.equal(all.length, 60);
  for (const answer of all.flatMap(({ answers }) => answers))
    assert.ok(momentsOf(answer).length > 0, `no meeting says "${answer}"`);
  const places: { question: string; place: number }[] = [];
  for (const { question, answers } of all) places.push({ question, place: await placeOf(question, answers) });
  const within = (count: number) => places.filter(({ place }) => place <= count).length;
  report(`within 40: ${within(40)}, within 10: ${within(10)}, first: ${within(1)}`);
  const missed = places.filter(({ place }) => place > 40).map(({ question }) => question);
  return { found: within(40), missed: missed.join("\n") };
}

test("of 60 questions in five languages, the search finds an answering passage for at least 54", async (t) => {
  const { found, missed } = await countFound((text) => t.diagnostic(text));
  assert.ok(found >= 54, missed);
});

test("the same where words are so common that only the four rarest of a question are searched", async (t) => {
  await db.pool.query("analyze search_recordings");
  await db.pool.query(
    "select pg_restore_relation_stats('schemaname', current_schema()::text, 'relname', 'search_recordings', 'reltuples', 1e9::real)",
  );
  const { found, missed } = await countFound((text) => t.diagnostic(text));
  assert.ok(found >= 54, missed);
});
