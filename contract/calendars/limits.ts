/** Characters of a user's notes for a meeting. */
export const maxMeetingNotes = 50_000;
