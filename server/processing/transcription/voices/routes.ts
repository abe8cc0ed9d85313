import * as contract from "../../../../contract/transcripts/voice-profiles.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Database } from "../../../platform/db/database.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
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
  route(api, contract.exportVoiceProfile, ({ request, params }) =>
    exportProfile(db, actorOf(request), params.profile_id),
  );
  route(api, contract.deleteVoiceProfile, ({ request, params }) =>
    deleteProfile(db, actorOf(request), params.profile_id),
  );
  route(api, contract.listRecordingVoices, async ({ principal, params }) => ({
    voices: await findRecordingVoices(db.kysely, principal, params.recording_id),
  }));
  route(api, contract.rememberVoice, ({ principal, request, params, body }) =>
    rememberVoice(db, principal, actorOf(request), params.recording_id, body),
  );
}
