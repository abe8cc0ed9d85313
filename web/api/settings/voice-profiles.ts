import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as voices from "../../../contract/transcripts/voice-profiles.ts";
import { call, urlOf } from "../client/call.ts";

export type VoiceProfile = z.output<typeof voices.VoiceProfile>;

export const voiceProfilesQuery = queryOptions({
  queryKey: ["voice profiles"],
  queryFn: ({ signal }) => call(voices.listVoiceProfiles, { signal }),
});

export const voiceProfileUrl = (id: string) =>
  urlOf(voices.exportVoiceProfile, { params: { profile_id: id } });

export const deleteVoiceProfile = (id: string) =>
  call(voices.deleteVoiceProfile, { params: { profile_id: id } });
