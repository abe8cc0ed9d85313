import { randomUUIDv7 } from "node:crypto";
import { completeFields } from "../../contract/recordings/fields.ts";
import { createUser } from "../../server/people/accounts/service.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { createRecording } from "../../server/recordings/recordings/create.ts";
import { makePersonalToken, makeWorkspace } from "./people.ts";
import { makeSpeech } from "./speech.ts";
import { companies, kinds, topics } from "./words.ts";

const hourMs = 3_600_000;

/** What the figures of the search need to know. */
export interface SpokenSet {
  readonly workspaceId: string;
  readonly workspaceToken: string;
  /** Of a user who sees a hundred recordings, of one who sees every second, and of one who sees none. */
  readonly guestToken: string;
  readonly memberToken: string;
  readonly strangerToken: string;
  readonly commonest: readonly string[];
  readonly rare: readonly string[];
}

/** A workspace with so many recordings of an hour, each of 600 segments. */
export async function makeSpoken(
  db: Database,
  hours: number,
  say: (text: string) => void,
): Promise<SpokenSet> {
  const speech = makeSpeech(42);
  const { id: workspaceId, workspaceToken } = await makeWorkspace(db, "Spoken", "spoken.example");
  const person = (name: string) => `${name}@spoken.example`;
  await db.kysely.transaction().execute(async (tx) => {
    for (const name of ["guest", "member", "stranger"])
      await createUser(tx, { workspaceId, email: person(name), name, role: "member" });
  });
  const guestEvery = Math.max(1, Math.floor(hours / 100));
  const titleWord = (): string => speech.words[100 + speech.below(2000)] ?? "";
  for (let n = 0; n < hours; n += 1) {
    const seenBy = [...(n % guestEvery === 0 ? ["guest"] : []), ...(n % 2 === 0 ? ["member"] : [])];
    await insertMeeting(db, workspaceId, {
      title: `${titleWord()} ${titleWord()} ${n}`,
      start: new Date(Date.parse("2024-01-01T09:00:00Z") + n * hourMs),
      hours: 1,
      speakers: ["Ada", "Ben"],
      attendees: seenBy.map(person),
      segments: Array.from({ length: 600 }, speech.sentence),
    });
    if ((n + 1) % 100 === 0) say(`${n + 1} of ${hours} hours`);
  }
  await db.pool.query("vacuum analyze");
  return {
    workspaceId,
    workspaceToken,
    guestToken: await makePersonalToken(db, person("guest")),
    memberToken: await makePersonalToken(db, person("member")),
    strangerToken: await makePersonalToken(db, person("stranger")),
    commonest: speech.words.slice(0, 20),
    rare: Array.from({ length: 20 }, (_, n) => speech.words[2000 + n * 700] ?? ""),
  };
}

interface Meeting {
  readonly title: string;
  readonly start: Date;
  readonly hours: number;
  /** They speak in turns. */
  readonly speakers: readonly string[];
  /** Emails of people who only listen. */
  readonly attendees?: readonly string[];
  /** What is said, spread over all the time. */
  readonly segments: readonly string[];
}

/** One recording as Parley makes it, with its transcript. @returns its id. */
export async function insertMeeting(
  db: Database,
  workspaceId: string,
  { title, start, hours, speakers, attendees = [], segments }: Meeting,
): Promise<string> {
  const id = randomUUIDv7();
  const people = [...speakers, ...attendees].map((name) => ({
    id: randomUUIDv7(),
    name,
    email: name.includes("@") ? name : null,
    phone: null,
    scope: "internal" as const,
    confirmed_attendee: true,
    attended: true,
  }));
  const each = (hours * hourMs) / segments.length;
  const spoken = segments.map((text, n) => {
    const speaker = people[n % speakers.length];
    return {
      participant_id: speaker?.id ?? null,
      speaker: speaker?.name ?? "",
      start_ms: Math.round(n * each),
      end_ms: Math.round((n + 0.9) * each),
      text,
    };
  });
  await db.kysely.transaction().execute(async (tx) => {
    await createRecording(tx, {
      values: {
        ...completeFields({}),
        id,
        workspace_id: workspaceId,
        title,
        start_datetime: start,
        end_datetime: new Date(start.getTime() + hours * hourMs),
        duration_ms: hours * hourMs,
        media_type: "transcript",
        external: false,
        meeting_type_id: null,
        transcript_language: "en",
      },
      participants: people,
      segments: spoken,
    });
  });
  return id;
}

/** Some 120 characters, letters beyond ASCII and a character that WebVTT escapes among them. */
export function longSentence(n: number): string {
  const word = (list: readonly string[], step: number): string => list[(n * step) % list.length] ?? "";
  return (
    `So after the ${word(topics, 7).toLowerCase()} ${word(kinds, 11)} we spoke to ${word(companies, 3)} again, ` +
    `and number ${n} on the list is still open, isn't it?`
  );
}
