import type { Violation } from "../../contract/errors.ts";
import * as participants from "../../contract/participants.ts";
import * as notes from "../../contract/private-notes.ts";
import * as contract from "../../contract/recording-data.ts";
import type { Principal } from "../access/principal.ts";
import { actorOf } from "../audit/record.ts";
import type { ViewLog } from "../audit/views.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { type Api, Ready, route } from "../http/route.ts";
import type { LinkSigner } from "../links/signer.ts";
import { thumbnailLinks } from "../recordings/links.ts";
import { canSeeRecording } from "../recordings/queries.ts";
import { recordingNotFound } from "../recordings/rights.ts";
import type { ObjectStore } from "../storage/store.ts";
import { changeRecordingData } from "./change.ts";
import { findDataFaults } from "./faults.ts";
import { recordingMediaLinks } from "./media-links.ts";
import { deleteNotes, readNotes, writeNotes } from "./notes.ts";
import { createParticipant, deleteParticipant, updateParticipant } from "./participants.ts";
import { findRecordingView, managedParticipant } from "./view.ts";

/** What the management API shows and changes of recordings. */
export function recordingDataRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly store: ObjectStore;
    readonly signer: LinkSigner;
    readonly views: ViewLog;
    readonly config: Pick<Config, "baseUrl" | "downloadUrlTtlMs" | "transcription">;
  },
): void {
  const { db, signer, views, config } = deps;

  /** Faults are told to whoever sees the recording; to others there is none. */
  const options = {
    keepNulls: true,
    findFaults: async (
      principal: Principal,
      body: unknown,
      params: Readonly<Record<string, string>>,
    ): Promise<Violation[]> => {
      const recordingId = params.recording_id ?? "";
      if (!(await canSeeRecording(db.pool, principal, recordingId))) return [];
      return findDataFaults(db.kysely, principal.workspaceId, recordingId, body);
    },
  };

  route(api, contract.getRecordingView, async ({ principal, params, request }) => {
    const json = await findRecordingView(db.pool, principal, params.recording_id, {
      baseUrl: config.baseUrl,
      thumbnails: thumbnailLinks(signer, new Date()),
      hasSpeechModel: config.transcription !== null,
    });
    if (json === undefined) throw recordingNotFound(params.recording_id);
    await views.note(request, "recording_viewed", params.recording_id);
    return new Ready(json);
  });

  route(
    api,
    contract.updateRecordingData,
    ({ principal, params, body, request }) =>
      changeRecordingData(db, principal, params.recording_id, actorOf(request), body),
    options,
  );

  route(api, contract.getRecordingMedia, async ({ principal, params, request }) => {
    if (!(await canSeeRecording(db.pool, principal, params.recording_id)))
      throw recordingNotFound(params.recording_id);
    await views.note(request, "recording_viewed", params.recording_id);
    return recordingMediaLinks(deps, params.recording_id);
  });

  const readParticipant = async (participantId: string): Promise<Ready> => {
    const { rows } = await db.pool.query<{ json: string }>(
      `select ${managedParticipant}::text as json from participants p where p.id = $1`,
      [participantId],
    );
    // Also when somebody deleted it right after the change.
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

  route(api, notes.getPrivateNotes, async ({ principal, params }) => ({
    text: await readNotes(db, principal, params.recording_id),
  }));
  route(api, notes.putPrivateNotes, ({ principal, params, body }) =>
    writeNotes(db, principal, params.recording_id, body.text),
  );
  route(api, notes.deletePrivateNotes, ({ principal, params }) =>
    deleteNotes(db, principal, params.recording_id),
  );
}
