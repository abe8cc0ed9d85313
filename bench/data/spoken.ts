import { randomUUIDv7 } from "node:crypto";
import { syncGrants } from "../../server/people/access/grants.ts";
import { createUser } from "../../server/people/accounts/service.ts";
import type { Database, Tx } from "../../server/platform/db/database.ts";
import {
  insertParticipants,
  insertRecording,
  insertSegments,
} from "../../server/recordings/recordings/create.ts";
import { makePersonalToken, makeWorkspace } from "./people.ts";
import { makeSpeech, type Speech } from "./speech.ts";

const segmentsPerHour = 600;
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
  for (let n = 0; n < hours; n += 1) {
    const seenBy = [...(n % guestEvery === 0 ? ["guest"] : []), ...(n % 2 === 0 ? ["member"] : [])];
    await db.kysely
      .transaction()
      .execute((tx) => insertMeeting(tx, workspaceId, n, speech, seenBy.map(person), 1));
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

/** One recording as Parley makes it, with its transcript. @returns its id. */
export async function insertMeeting(
  tx: Tx,
  workspaceId: string,
  n: number,
  speech: Speech,
  emails: readonly string[],
  hours: number,
): Promise<string> {
  const id = randomUUIDv7();
  const start = new Date(Date.parse("2024-01-01T09:00:00Z") + n * hourMs);
  const people = ["Ada", "Ben", ...emails].map((name) => ({
    id: randomUUIDv7(),
    name,
    email: name.includes("@") ? name : null,
    phone: null,
    scope: "internal" as const,
    confirmed_attendee: true,
    attended: true,
  }));
  const count = segmentsPerHour * hours;
  const segments = Array.from({ length: count }, (_, k) => ({
    participant_id: people[k % 2]?.id ?? null,
    speaker: people[k % 2]?.name ?? "",
    start_ms: k * 6000,
    end_ms: k * 6000 + 5900,
    text: speech.sentence(),
  }));
  await insertRecording(tx, {
    id,
    workspace_id: workspaceId,
    title: `${speech.words[100 + speech.below(2000)]} ${speech.words[100 + speech.below(2000)]} ${n}`,
    start_datetime: start,
    end_datetime: new Date(start.getTime() + hours * hourMs),
    duration_ms: hours * hourMs,
    media_type: "transcript",
    source: "upload",
    share_state: "restricted",
    external: false,
    meeting_type_id: null,
    transcript_language: "en",
  });
  await insertParticipants(tx, workspaceId, id, people);
  await insertSegments(tx, id, segments);
  await syncGrants(tx, [id]);
  return id;
}
