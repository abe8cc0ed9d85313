/** The kinds of recordings, in words. */
export const mediaTypes = { video: "Video", audio: "Audio", transcript: "Transcript" } as const;
