// Generated: UPDATE_DOCS=1 npm test test/clients.
export const hookTypeNames = [
  "comment_added",
  "comment_deleted",
  "comment_updated",
  "highlight_added",
  "highlight_deleted",
  "highlight_updated",
  "recording_added",
  "recording_deleted",
  "recording_updated",
  "story_added",
  "story_deleted",
  "story_updated",
  "transcription_updated",
  "upload_added",
  "upload_updated",
];
