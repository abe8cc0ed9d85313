import * as contract from "../../../contract/voice-profiles.ts";
import { actorOf } from "../../audit/record.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { canSeeRecording } from "../../recordings/queries.ts";
import { recordingNotFound } from "../../recordings/rights.ts";
import {
  deleteProfile,
  exportProfile,
  findRecordingVoices,
  listProfiles,
  rememberVoice,
} from "./profiles.ts";

/** Voice profiles, and the voices of a recording. */
export function voiceRoutes(api: Api, { db }: { readonly db: Database }): void {
  route(api, contract.listVoiceProfiles, async ({ principal }) => ({
    profiles: await listProfiles(db.kysely, principal.workspaceId),
  }));
  route(api, contract.exportVoiceProfile, ({ principal, params }) =>
    exportProfile(db.kysely, principal.workspaceId, params.profile_id),
  );
  route(api, contract.deleteVoiceProfile, ({ request, params }) =>
    deleteProfile(db, actorOf(request), params.profile_id),
  );
  route(api, contract.listRecordingVoices, async ({ principal, params }) => {
    if (!(await canSeeRecording(db.pool, principal, params.recording_id)))
      throw recordingNotFound(params.recording_id);
    return { voices: await findRecordingVoices(db.kysely, principal.workspaceId, params.recording_id) };
  });
  route(api, contract.rememberVoice, ({ principal, request, params, body }) =>
    rememberVoice(db, principal, actorOf(request), params.recording_id, body),
  );
}
