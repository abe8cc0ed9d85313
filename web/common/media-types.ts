import { msg } from "@lingui/core/macro";

/** The kinds of recordings, in words. */
export const mediaTypes = { video: msg`Video`, audio: msg`Audio`, transcript: msg`Transcript` } as const;
