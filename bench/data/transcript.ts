import { randomUUIDv7 } from "node:crypto";
import { syncGrants } from "../../server/people/access/grants.ts";
import type { Database } from "../../server/platform/db/database.ts";
import {
  insertParticipants,
  insertRecording,
  insertSegments,
} from "../../server/recordings/recordings/create.ts";
import { companies, firstNames, kinds, topics } from "./words.ts";

const hoursMs = 4 * 3_600_000;

/**
 * Makes a recording with a transcript of four hours: segments of some 120 characters by four speakers.
 * @returns the recording's id.
 */
export async function makeLongTranscript(
  db: Database,
  workspaceId: string,
  segmentCount: number,
): Promise<string> {
  const id = randomUUIDv7();
  const start = new Date("2026-02-01T09:00:00Z");
  const people = firstNames.slice(0, 4).map((name) => ({
    id: randomUUIDv7(),
    name,
    email: null,
    phone: null,
    scope: "unknown" as const,
    confirmed_attendee: true,
    attended: true,
  }));
  const each = hoursMs / segmentCount;
  const segments = Array.from({ length: segmentCount }, (_, n) => {
    const speaker = people[n % people.length];
    return {
      participant_id: speaker?.id ?? null,
      speaker: speaker?.name ?? "Speaker",
      start_ms: Math.round(n * each),
      end_ms: Math.round(n * each + each * 0.9),
      text: sentence(n),
    };
  });
  await db.kysely.transaction().execute(async (tx) => {
    await insertRecording(tx, {
      id,
      workspace_id: workspaceId,
      title: "Four hours",
      start_datetime: start,
      end_datetime: new Date(start.getTime() + hoursMs),
      duration_ms: hoursMs,
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
  });
  return id;
}

/** Some 120 characters, letters beyond ASCII and a character that WebVTT escapes among them. */
function sentence(n: number): string {
  const word = (list: readonly string[], step: number): string => list[(n * step) % list.length] ?? "";
  return (
    `So after the ${word(topics, 7).toLowerCase()} ${word(kinds, 11)} we spoke to ${word(companies, 3)} again, ` +
    `and number ${n} on the list is still open, isn't it?`
  );
}
