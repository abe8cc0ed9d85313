import * as participants from "../../../contract/recordings/participants.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type Api, Ready, route } from "../../platform/http/routing/route.ts";
import { managedParticipant } from "../recordings/api/recording-view.ts";
import { refuseUnknownReferences } from "../recordings/change/violations.ts";
import { createParticipant, deleteParticipant, updateParticipant } from "./participants.ts";

/** Adds, changes and deletes the participants of a recording. */
export function participantRoutes(api: Api, { db }: { readonly db: Database }): void {
  const options = refuseUnknownReferences(db);

  const readParticipant = async (participantId: string): Promise<Ready> => {
    const { rows } = await db.pool.query<{ json: string }>(
      `select ${managedParticipant}::text as json from participants p where p.id = $1`,
      [participantId],
    );
    // It may have been deleted right after the change.
    if (rows[0] === undefined)
      throw new ProblemError("not_found", `the recording has no participant ${participantId}`);
    return new Ready(rows[0].json);
  };

  route(
    api,
    participants.createParticipant,
    async ({ principal, params, body }) =>
      readParticipant(await createParticipant(db, principal, params.recording_id, body)),
    options,
  );
  route(
    api,
    participants.updateParticipant,
    async ({ principal, params, body }) =>
      readParticipant(
        await updateParticipant(db, principal, params.recording_id, params.participant_id, body),
      ),
    options,
  );
  route(api, participants.deleteParticipant, ({ principal, params }) =>
    deleteParticipant(db, principal, params.recording_id, params.participant_id),
  );
}
