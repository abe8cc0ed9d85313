import { z } from "zod";
import { Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { RecordingParams } from "../recordings/recordings.ts";

/** Maximum number of voice profiles per workspace. */
export const maxVoiceProfiles = 1000;

export const VoiceProfile = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    email: z.string().nullable(),
    model: z.string().meta({ description: "Name and revision of the model that it works with." }),
    consent: z.strictObject({
      confirmed_by: z.strictObject({ id: Uuid, name: z.string() }).nullable().meta({
        description: "The user who confirmed that the person consents; null: deleted.",
      }),
      datetime: Timestamp,
    }),
  })
  .meta({ id: "VoiceProfile" });

const base = { tag: "Voice profiles", gate: "every_version" } as const;

export const listVoiceProfiles = operation({
  ...base,
  id: "listVoiceProfiles",
  permission: "admin",
  method: "GET",
  path: "/_/api/v1/voice-profiles",
  summary: "List Voice Profiles",
  description: `Lists the workspace's voice profiles, by name: at most ${maxVoiceProfiles}.`,
  response: z.strictObject({ profiles: z.array(VoiceProfile) }),
  errors: ["forbidden"],
});

export const exportVoiceProfile = operation({
  ...base,
  id: "exportVoiceProfile",
  permission: "admin",
  method: "GET",
  path: "/_/api/v1/voice-profiles/:profile_id",
  summary: "Export Voice Profile",
  description: "Returns a voice profile with its embedding: everything that is stored about the voice.",
  params: z.object({ profile_id: Uuid }),
  response: VoiceProfile.extend({ embedding: z.array(z.number()) }).meta({ id: "ExportedVoiceProfile" }),
  errors: ["forbidden", "not_found"],
});

export const deleteVoiceProfile = operation({
  ...base,
  id: "deleteVoiceProfile",
  permission: "admin",
  method: "DELETE",
  path: "/_/api/v1/voice-profiles/:profile_id",
  summary: "Delete Voice Profile",
  description: "Permanently deletes a voice profile. Transcripts are kept.",
  params: z.object({ profile_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const listRecordingVoices = operation({
  ...base,
  id: "listRecordingVoices",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/recordings/:recording_id/voices",
  summary: "List Recording Voices",
  description:
    "Lists the unidentified speakers of a recording whose voice can be remembered, each with the voice profile that sounds like it. Nothing is named automatically. Empty unless voice profiles are turned on. Allowed for the recording's recorders, admins and workspace tokens.",
  params: RecordingParams,
  response: z.strictObject({
    voices: z.array(
      z.strictObject({
        speaker: z.string(),
        sounds_like: z.strictObject({ profile_id: Uuid, name: z.string() }).nullable(),
      }),
    ),
  }),
  errors: ["forbidden", "not_found"],
});

export const rememberVoice = operation({
  ...base,
  id: "rememberVoice",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/recordings/:recording_id/voices",
  summary: "Remember Voice",
  description:
    "Creates a voice profile from the voice of a recording's speaker, with the person's consent. Allowed for the recording's recorders, admins and workspace tokens, if voice profiles are turned on.",
  params: RecordingParams,
  body: z.object({
    speaker: z.string().min(1).max(320).meta({ description: "From List Recording Voices." }),
    name: z.string().trim().min(1, "must not be blank").max(320),
    email: z.string().trim().min(3).max(320).optional().meta({
      description: "With it, Erase Personal Data finds the profile even if names differ.",
    }),
    consent: z.literal(true).meta({ description: "Confirms that the person consents." }),
  }),
  response: VoiceProfile,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found", "wrong_state"],
});
