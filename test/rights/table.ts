import { but, kinds, type Rights } from "./callers.ts";

/**
 * Who may what: every operation of the contract and of the management API. `docs/rights.md` shows it, and the test
 * beside this file walks every cell over HTTP.
 */
export const rights: Readonly<Record<string, Rights>> = {
  listUsers: kinds.own,
  listTeams: kinds.own,
  listMeetingTypes: kinds.own,
  // A person signed in with a browser carries no token.
  tokenInfo: but(kinds.own, { session: 403 }),

  listRecordings: kinds.own,
  getRecording: kinds.sees,
  updateRecording: kinds.changes,
  addTag: kinds.changes,
  removeTag: kinds.changes,
  shareToUser: kinds.changes,
  unshareFromUser: kinds.changes,
  shareToTeam: kinds.changes,
  unshareFromTeam: kinds.changes,
  downloadRecording: kinds.sees,
  getTranscript: kinds.sees,
  getTranscript_txt: kinds.sees,
  getTranscript_vtt: kinds.sees,
  getTranscript_srt: kinds.sees,
  deleteRecording: kinds.changes,

  listHighlights: kinds.sees,
  createHighlight: kinds.adds,
  getHighlight: kinds.sees,
  updateHighlight: kinds.changes,
  deleteHighlight: kinds.changes,

  listStories: kinds.own,
  createStory: kinds.make,
  getStory: kinds.inWorkspace,
  updateStory: kinds.changesMade,
  deleteStory: kinds.changesMade,

  createUpload: kinds.make,
  listUploads: kinds.own,
  getUpload: kinds.myUpload,
  updateUpload: kinds.myUploadToChange,
  promoteUpload: kinds.myUploadToChange,
  uploadRecording: kinds.make,

  createHook: kinds.make,
  listHooks: kinds.own,
  deleteHook: kinds.mineToChange,
  listAllHooks: kinds.own,
  getHook: kinds.mine,
  listDeliveries: kinds.mine,
  getDelivery: kinds.mine,
  resendDelivery: kinds.mineToChange,
  replayHook: kinds.mineToChange,
  testHook: kinds.mineToChange,
  rotateHookSecret: kinds.mineToChange,
  enableHook: kinds.mineToChange,
  disableHook: kinds.mineToChange,
  listEvents: kinds.own,
};
