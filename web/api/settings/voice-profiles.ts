import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as voices from "../../../contract/transcripts/voice-profiles.ts";
import { call, path } from "../client.ts";

export type VoiceProfile = z.output<typeof voices.VoiceProfile>;

export const voiceProfilesQuery = queryOptions({
  queryKey: ["voice profiles"],
  queryFn: ({ signal }) =>
    call<typeof voices.listVoiceProfiles>("GET", "/_/api/v1/voice-profiles", { signal }),
});

export const voiceProfileUrl = (id: string) => path`/_/api/v1/voice-profiles/${id}`;

export const deleteVoiceProfile = (id: string) =>
  call<typeof voices.deleteVoiceProfile>("DELETE", voiceProfileUrl(id));
