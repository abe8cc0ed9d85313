import { sql } from "kysely";
import type { z } from "zod";
import * as contract from "../../../../contract/calendars/calendars.ts";
import { because } from "../../../../contract/causes/causes.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Executor } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import { updateRecording } from "../../../recordings/recordings/change/update-recording.ts";
import { checkRight } from "../../../recordings/recordings/rights.ts";
import { presentMeeting } from "../present.ts";
import { applyMeeting, hasTimes, hasTitle, partIds, removeMeeting } from "./apply.ts";
import { type Candidate, findCandidates, findTrustedRecorders } from "./candidates.ts";

/** Which meeting a recording is of. */
export function recordingMeetingRoutes(api: Api, { db }: { readonly db: Database }): void {
  route(api, contract.getRecordingMeeting, async ({ principal, params }) => {
    await checkRight(db.kysely, principal, params.recording_id, "change", "choose its meeting");
    return present(db.kysely, principal, params.recording_id);
  });

  route(api, contract.chooseRecordingMeeting, async ({ principal, params, body }) => {
    await updateRecording(
      db,
      principal,
      params.recording_id,
      async (tx, recording) => {
        const candidates = await candidatesFor(tx, principal, recording.id);
        const event = candidates.find(({ id }) => id === body.meeting_id.toLowerCase());
        if (event === undefined)
          throw new ProblemError("not_found", because("meeting_unmatched", { id: body.meeting_id }));
        if (await isMatched(tx, recording.id, event, body.is_chosen)) return { changed: false, result: null };
        await removeMeeting(tx, recording.id);
        await applyMeeting(tx, recording, event, body.is_chosen ? principal.userId : null);
        return { changed: true, result: null };
      },
      "change",
      "choose its meeting",
    );
    return present(db.kysely, principal, params.recording_id);
  });

  route(api, contract.undoRecordingMeeting, async ({ principal, params }) => {
    await updateRecording(
      db,
      principal,
      params.recording_id,
      async (tx, { id }) => {
        const changed = await removeMeeting(tx, id);
        const row = {
          state: "undone" as const,
          is_chosen: false,
          event_key: null,
          title_hash: null,
          participant_ids: [],
          filled_in_participant_ids: [],
          previous_event: null,
          applied_event: null,
          note_user_ids: [],
        };
        await tx
          .insertInto("recording_meetings")
          .values({ recording_id: id, ...row })
          .onConflict((conflict) => conflict.column("recording_id").doUpdateSet(row))
          .execute();
        return { changed, result: null };
      },
      "change",
      "undo its meeting",
    );
    return present(db.kysely, principal, params.recording_id);
  });
}

/** Whether the recording has this meeting already, chosen by a user or not, and it has the same times still. */
async function isMatched(
  db: Executor,
  recordingId: string,
  { key, start_at: start, end_at: end }: Candidate,
  isChosen: boolean,
): Promise<boolean> {
  const match = await db
    .selectFrom("recording_meetings")
    .select("applied_event")
    .where("recording_id", "=", recordingId)
    .where("event_key", "=", key)
    .where("state", "=", "matched")
    .where("is_chosen", "=", isChosen)
    .executeTakeFirst();
  return (
    match?.applied_event?.scheduled_start_datetime === start.toISOString() &&
    match.applied_event.scheduled_end_datetime === end.toISOString()
  );
}

/** Those of the caller. Workspace tokens have no calendars of their own, but manage those of rooms. */
async function candidatesFor(db: Executor, principal: Principal, recordingId: string): Promise<Candidate[]> {
  if (principal.scope === "personal") return findCandidates(db, recordingId, [principal.userId]);
  return findCandidates(db, recordingId, await findTrustedRecorders(db, recordingId), { ofRooms: true });
}

async function present(
  db: Executor,
  principal: Principal,
  recordingId: string,
): Promise<z.input<typeof contract.RecordingMeeting>> {
  const [match, candidates, parts, others] = await Promise.all([
    db
      .selectFrom("recording_meetings")
      .select(["state", "is_chosen", "applied_event", "event_key"])
      .where("recording_id", "=", recordingId)
      .executeTakeFirst(),
    candidatesFor(db, principal, recordingId),
    findParts(db, recordingId),
    findOthers(db, principal, recordingId),
  ]);
  const matched = match?.event_key ?? null;
  return {
    state: match?.state ?? "none",
    is_chosen: match?.is_chosen ?? false,
    ical_uid: match?.applied_event?.ical_uid ?? null,
    meeting_id: candidates.find(({ key }) => key === matched)?.id ?? null,
    parts,
    other_recordings: others,
    candidates: candidates.map((candidate) =>
      presentMeeting({ ...candidate, is_private: false, notes: null, recording_id: null }),
    ),
  };
}

type Parts = z.input<typeof contract.RecordingMeeting>["parts"];

/** What a recording has from its meeting still. */
async function findParts(db: Executor, recordingId: string): Promise<Parts> {
  const { rows } = await sql<Record<Parts[number], boolean | null>>`
    select ${hasTitle} as title, ${hasTimes} as scheduled_times,
      exists (select 1 from participants p where p.recording_id = r.id and p.id = any(${partIds})) as participants
    from recordings r join recording_meetings m on m.recording_id = r.id and m.state = 'matched'
    where r.id = ${recordingId}`.execute(db);
  const [found] = rows;
  return (["title", "participants", "scheduled_times"] as const).filter((part) => found?.[part] === true);
}

/** Other recordings of its meeting, as of one with a break. */
async function findOthers(
  db: Executor,
  { workspaceId, sees }: Principal,
  recordingId: string,
): Promise<z.input<typeof contract.RecordingMeeting>["other_recordings"]> {
  const { rows } = await sql<{ id: string; title: string; start_datetime: Date }>`
    select r.id, r.title, r.start_datetime
    from recording_meetings m
      join recording_meetings o on o.event_key = m.event_key and o.state = 'matched' and o.recording_id <> m.recording_id
      join recordings r on r.id = o.recording_id and r.workspace_id = ${workspaceId}
    where m.recording_id = ${recordingId} and m.state = 'matched' and exists (
      select 1 from recording_grants g where g.recording_id = r.id and g.principal_id = any(${sees}::uuid[]))
    order by r.start_datetime, r.id limit ${contract.otherRecordings}`.execute(db);
  return rows.map(({ start_datetime: start, ...row }) => ({ ...row, start_datetime: start.toISOString() }));
}
