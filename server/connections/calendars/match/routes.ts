import type { z } from "zod";
import * as contract from "../../../../contract/calendars/calendars.ts";
import { because } from "../../../../contract/causes/causes.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Executor } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import { updateRecording } from "../../../recordings/recordings/change/update-recording.ts";
import { checkMay } from "../../../recordings/recordings/rights.ts";
import { presentMeeting } from "../present.ts";
import { applyMeeting, removeMeeting } from "./apply.ts";
import { type Candidate, findCandidates, findTrustedRecorders } from "./candidates.ts";

/** Which meeting a recording is of. */
export function recordingMeetingRoutes(api: Api, { db }: { readonly db: Database }): void {
  route(api, contract.getRecordingMeeting, async ({ principal, params }) => {
    await checkMay(db.kysely, principal, params.recording_id, "change", "choose its meeting");
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
        if (await isChosen(tx, recording.id, event)) return { changed: false, result: null };
        await removeMeeting(tx, recording.id);
        await applyMeeting(tx, recording, event, principal.userId);
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

/** Whether a user chose this meeting before, and it has the same times still. */
async function isChosen(
  db: Executor,
  recordingId: string,
  { key, start_at: start, end_at: end }: Candidate,
): Promise<boolean> {
  const match = await db
    .selectFrom("recording_meetings")
    .select("applied_event")
    .where("recording_id", "=", recordingId)
    .where("event_key", "=", key)
    .where("state", "=", "matched")
    .where("is_chosen", "=", true)
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
  const [match, candidates] = await Promise.all([
    db
      .selectFrom("recording_meetings")
      .select(["state", "is_chosen", "applied_event"])
      .where("recording_id", "=", recordingId)
      .executeTakeFirst(),
    candidatesFor(db, principal, recordingId),
  ]);
  return {
    state: match?.state ?? "none",
    is_chosen: match?.is_chosen ?? false,
    ical_uid: match?.applied_event?.ical_uid ?? null,
    candidates: candidates.map((candidate) =>
      presentMeeting({ ...candidate, is_private: false, notes: null, recording_id: null }),
    ),
  };
}
