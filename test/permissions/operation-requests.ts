import { randomBytes } from "node:crypto";
import { olderVersion } from "../support/app.ts";
import { accountRequests } from "./account-requests.ts";
import { adminRequests } from "./admin-requests.ts";
import { publicLinkRequests } from "./public-links.ts";
import type { BuildRequest, OperationRequest } from "./request.ts";
import { storyWithBanner } from "./story-banner.ts";
import { marker, type World } from "./world.ts";

const recording = (world: World) => ({ recording_id: world.recordingId });
const unique = (): string => randomBytes(6).toString("hex");

/** A valid request for each row of the table. */
export const requests: Readonly<Record<string, BuildRequest>> = {
  listUsers: () => ({}),
  listInvitedUsers: () => ({}),
  listTeams: () => ({}),
  listMeetingTypes: () => ({}),
  tokenInfo: () => ({}),

  listRecordings: () => ({ body: { include: { participants: true, highlights: true } } }),
  getRecording: (world) => ({ params: recording(world), body: { include: { participants: true } } }),
  updateRecording: (world) => ({ params: recording(world), body: { title: `Another ${unique()}` } }),
  addTag: (world) => ({ params: recording(world), body: { tag: unique() } }),
  removeTag: (world) => ({ params: { ...recording(world), tag: "harbour" } }),
  shareToUser: (world) => ({ params: recording(world), body: { user_id: world.users.ids.otherUser } }),
  "shareToUser of another workspace": async (world) => ({
    params: recording(world),
    body: { user_id: (await world.fresh("other_workspace")).id },
  }),
  unshareFromUser: (world) => ({ params: { ...recording(world), user_id: world.users.ids.viewer } }),
  shareToTeam: (world) => ({ params: recording(world), body: { team_id: world.users.teamId } }),
  "shareToTeam of another workspace": async (world) => ({
    params: recording(world),
    body: { team_id: await world.teamElsewhere() },
  }),
  unshareFromTeam: (world) => ({ params: { ...recording(world), team_id: world.users.teamId } }),
  downloadRecording: async (world) => ({ params: { recording_id: await world.withMedia() } }),
  getTranscript: (world) => ({ params: recording(world) }),
  getTranscript_txt: (world) => ({ params: recording(world) }),
  getTranscript_vtt: (world) => ({ params: recording(world) }),
  getTranscript_srt: (world) => ({ params: recording(world) }),
  deleteRecording: (world) => ({ params: recording(world) }),
  listTrash: () => ({}),
  getTrashedRecording: async (world) => ({ params: { recording_id: await world.trashed() } }),
  // Of nobody's recordings: other requests count on theirs.
  emptyTrash: () => ({ body: { deleted_before: "2001-01-01T00:00:00Z" } }),
  listLibrary: () => ({}),
  addFavorite: (world) => ({ params: recording(world) }),
  removeFavorite: (world) => ({ params: recording(world) }),
  changeRecordings: (world) => ({
    body: { recording_ids: [world.recordingId], change: { kind: "add_tag", tag: "bulk" } },
  }),
  restoreRecording: async (world) => ({ params: { recording_id: await world.trashed() } }),
  purgeRecording: async (world) => ({ params: { recording_id: await world.trashed() } }),

  listHighlights: (world) => ({ params: recording(world) }),
  listAllHighlights: () => ({}),
  createHighlight: (world) => ({
    params: recording(world),
    body: { text: "A clip", timestamp: 0, duration: 500 },
  }),
  requestClip: async (world) => ({ params: { highlight_id: await world.highlightWithMedia() } }),
  getHighlight: async (world) => ({ params: { highlight_id: await world.highlight() } }),
  updateHighlight: async (world) => ({
    params: { highlight_id: await world.highlight() },
    body: { text: "New" },
  }),
  deleteHighlight: async (world) => ({ params: { highlight_id: await world.highlight() } }),

  listComments: async (world) => {
    await world.comment();
    return { params: recording(world) };
  },
  createComment: (world) => ({ params: recording(world), body: { text: "Look at this", timestamp: 500 } }),
  updateComment: async (world) => ({ params: { comment_id: await world.comment() }, body: { text: "New" } }),
  deleteComment: async (world) => ({ params: { comment_id: await world.comment() } }),
  resolveComment: async (world) => ({ params: { comment_id: await world.comment() } }),
  addReaction: async (world) => ({ params: { comment_id: await world.comment(), emoji: "👍" } }),
  removeReaction: async (world) => ({ params: { comment_id: await world.comment(), emoji: "👍" } }),

  listStories: () => ({}),
  createStory: () => ({ body: { title: "A story" } }),
  "createStory with a highlight of the recording": async (world) => ({
    body: { title: "A story", highlight_ids: [await world.highlight()] },
  }),
  getStory: async (world) => ({ params: { story_id: await world.story() } }),
  getStoryBanner: async (world) => ({ params: { story_id: await storyWithBanner(world) } }),
  updateStory: async (world) => ({ params: { story_id: await world.story() }, body: { title: "New" } }),
  deleteStory: async (world) => ({ params: { story_id: await world.story() } }),

  createUpload: (world, caller) => ({
    body: {
      media_type: "transcript",
      attributes: {
        ...(caller === "workspace_token" ? { recorder_ids: [world.users.ids.recorder] } : {}),
        transcript: { language: "en", segments: [] },
      },
    },
  }),
  listUploads: () => ({ body: { include: { attributes: true, transcript: true } } }),
  getUpload: async (world) => ({ params: { upload_id: await world.upload() } }),
  updateUpload: async (world) => ({
    params: { upload_id: await world.upload() },
    body: { attributes: { title: "Another" } },
  }),
  promoteUpload: async (world) => ({ params: { upload_id: await world.upload() } }),
  uploadRecording: (world, caller) => ({
    body: {
      filename: "talk.mp4",
      ...(caller === "workspace_token" ? { user_id: world.users.ids.recorder } : {}),
    },
  }),

  listDestinations: () => ({}),
  createDestination: (world) => ({ body: { kind: "slack", url: `${world.receiver.url}/chat` } }),
  "createDestination of the kind markdown": () => ({ body: { kind: "markdown" } }),
  updateDestination: async (world) => ({
    params: { delivery_id: await world.destination() },
    body: { name: "Other" },
  }),
  deleteDestination: async (world) => ({ params: { delivery_id: await world.destination() } }),
  testDestination: async (world) => ({ params: { delivery_id: await world.destination() } }),
  previewDestination: (world) => ({ body: { kind: "teams", recording_id: world.recordingId } }),
  listDestinationAttempts: async (world) => ({ params: { delivery_id: await world.destination() } }),
  resendDestinationAttempt: async (world) => {
    const id = await world.destination();
    return { params: { delivery_id: id, attempt_id: await world.delivery(id) } };
  },

  listCalendars: () => ({}),
  createCalendar: (world) => ({ body: { kind: "ics", url: world.calendarUrl } }),
  discoverCalendars: (world) => ({
    body: { url: world.accountUrl, username: "ann", password: "app password" },
  }),
  "createCalendar of a room": (world) => ({ body: { kind: "ics", url: world.calendarUrl, is_room: true } }),
  deleteCalendar: async (world) => ({ params: { calendar_id: await world.calendar() } }),
  getRecordingMeeting: (world) => ({ params: { recording_id: world.recordingId } }),
  chooseRecordingMeeting: async (world) => ({
    params: { recording_id: world.recordingId },
    body: { meeting_id: await world.meeting() },
  }),
  undoRecordingMeeting: (world) => ({ params: { recording_id: world.recordingId } }),
  listMeetings: () => ({}),
  getMeeting: async (world) => ({ params: { meeting_id: await world.meeting() } }),
  updateMeeting: async (world) => ({
    params: { meeting_id: await world.meeting() },
    body: { notes: "Ask about the budget" },
  }),

  createHook: (world) => ({
    body: { hook_url: `${world.receiver.url}/hook`, hook_type: "recording_deleted" },
    version: olderVersion,
  }),
  listHooks: () => ({}),
  deleteHook: async (world) => ({ params: { hook_id: await world.hook() } }),
  listAllHooks: () => ({}),
  "listAllHooks of the workspace": () => ({ query: "?of=workspace" }),
  getHook: async (world) => ({ params: { hook_id: await world.hook() } }),
  listDeliveries: async (world) => ({ params: { hook_id: await world.hook() } }),
  getDelivery: (world) => deliveryOf(world),
  resendDelivery: (world) => deliveryOf(world),
  replayHook: async (world) => ({
    params: { hook_id: await world.hook() },
    body: { since: new Date(Date.now() - 3_600_000).toISOString() },
  }),
  testHook: async (world) => ({ params: { hook_id: await world.hook() } }),
  rotateHookSecret: async (world) => ({ params: { hook_id: await world.hook() } }),
  enableHook: async (world) => ({ params: { hook_id: await world.hook() } }),
  disableHook: async (world) => ({ params: { hook_id: await world.hook() } }),
  "deleteHook of the workspace": async (world) => ({ params: { hook_id: await world.workspaceHook() } }),
  "getHook of the workspace": async (world) => ({ params: { hook_id: await world.workspaceHook() } }),
  "listDeliveries of the workspace": async (world) => ({ params: { hook_id: await world.workspaceHook() } }),
  "testHook of the workspace": async (world) => ({ params: { hook_id: await world.workspaceHook() } }),
  "rotateHookSecret of the workspace": async (world) => ({
    params: { hook_id: await world.workspaceHook() },
  }),
  listEvents: () => ({}),

  search: () => ({ query: `?q=${marker}` }),

  getRecordingView: (world) => ({ params: recording(world) }),
  updateRecordingData: (world) => ({ params: recording(world), body: { source: "zoom" } }),
  getRecordingMedia: (world) => ({ params: recording(world) }),
  createParticipant: (world) => ({ params: recording(world), body: { name: "Bo" } }),
  updateParticipant: (world) => ({
    params: { ...recording(world), participant_id: world.participantId },
    body: { name: "Bo" },
  }),
  deleteParticipant: async (world) => ({
    params: { ...recording(world), participant_id: await world.silentParticipant() },
  }),
  getPrivateNotes: (world) => ({ params: recording(world) }),
  putPrivateNotes: (world) => ({ params: recording(world), body: { text: "mine" } }),
  deletePrivateNotes: (world) => ({ params: recording(world) }),
  importRecording: (world, caller) => ({
    body: {
      transcript: { language: "en", segments: [] },
      ...(caller === "workspace_token" ? { recorder_ids: [world.users.ids.recorder] } : {}),
    },
  }),
  setUploadLanguage: async (world) => ({
    params: { upload_id: await world.upload() },
    body: { language: "fr" },
  }),
  getImport: async (world) => ({ params: { import_id: await world.imported() } }),
  updateImport: async (world) => ({
    params: { import_id: await world.awaitingImport() },
    body: { audio_tracks: "speakers" },
  }),
  "updateImport with private notes": async (world) => ({
    params: { import_id: await world.awaitingImport() },
    body: { notes: null },
  }),
  listManagedMeetingTypes: () => ({}),
  createMeetingType: () => ({ body: { name: `Type ${unique()}`, scope: "internal" } }),
  updateMeetingType: async (world) => ({
    params: { meeting_type_id: await world.meetingType() },
    body: { name: `Type ${unique()}` },
  }),
  deleteMeetingType: async (world) => ({ params: { meeting_type_id: await world.meetingType() } }),

  getDocument: (world) => ({ params: recording(world) }),
  getWordDocument: (world) => ({ params: recording(world), query: "?parts=summary" }),
  getTranscriptView: (world) => ({ params: recording(world) }),
  readTranscriptPart: (world) => ({ params: recording(world) }),
  getWordCues: (world) => ({ params: recording(world) }),
  correctTranscript: (world) => ({
    params: recording(world),
    body: { transcript_version: 0, segments: [{ index: 0, text: "corrected" }] },
  }),
  renameSpeaker: (world) => ({
    params: recording(world),
    body: { transcript_version: 0, speaker: { name: "Unknown Speaker 1" }, name: "Bo" },
  }),
  mergeSpeakers: (world) => ({
    params: recording(world),
    body: {
      transcript_version: 0,
      from: [{ name: "Unknown Speaker 1" }],
      into: { participant_id: world.participantId },
    },
  }),
  assignSegments: (world) => ({
    params: recording(world),
    body: { transcript_version: 0, indexes: [1], to: { participant_id: world.participantId } },
  }),
  undoTranscriptEdit: async (world) => {
    await world.edit();
    return { params: recording(world), body: { transcript_version: 1 } };
  },
  listTranscriptEdits: (world) => ({ params: recording(world) }),
  getTranscriptEdit: async (world) => ({ params: { ...recording(world), number: await world.edit() } }),
  rerunTranscription: async (world) => ({
    params: { recording_id: await world.withMedia() },
    body: { edits: "discard" },
  }),
  cancelTranscription: async (world) => ({ params: { recording_id: await world.transcribing() } }),

  requestAccess: (world) => ({ params: recording(world) }),
  listAccessRequests: (world) => ({ params: recording(world) }),
  grantAccess: accessRequest,
  declineAccess: accessRequest,

  listRecordingVoices: (world) => ({ params: recording(world) }),
  rememberVoice: async (world) => {
    const { recording_id } = recording(world);
    const { kysely } = world.app.db;
    await kysely.updateTable("workspaces").set({ voice_profiles: true }).execute();
    const voice = { speaker: "Unknown Speaker 1", embedding: [1, 0], ms: 9000, model: "voices@1" };
    await kysely
      .insertInto("recording_voices")
      .values({ recording_id, ...voice })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return { params: { recording_id }, body: { speaker: voice.speaker, name: "Ada", consent: true } };
  },

  supplyTranscript: (world) => ({
    params: recording(world),
    body: { transcript_version: 0, segments: [{ speaker: "Ada", start: 0, end: 900, text: "Hello." }] },
  }),

  listTemplates: () => ({}),
  createTemplate: () => ({
    body: { title: `Risks ${unique()}`, kind: "bullets", prompt: "List the risks." },
  }),
  getTemplate: async (world) => ({ params: { template_id: await world.template() } }),
  updateTemplate: async (world) => ({
    params: { template_id: await world.template() },
    body: { prompt: "New" },
  }),
  deleteTemplate: async (world) => ({ params: { template_id: await world.template() } }),
  listNotifications: () => ({}),
  readNotifications: () => ({ body: { all: true } }),
  streamNotifications: () => ({}),
  getNotificationSettings: () => ({}),
  updateNotificationSettings: () => ({ body: { replied: "off" } }),

  ask: (world) => ({ body: { question: "Who speaks?", ...recording(world) } }),
  getAskState: () => ({}),
  listThreads: () => ({}),
  getThread: async (world) => ({ params: { thread_id: await world.thread() } }),
  updateThread: async (world) => ({ params: { thread_id: await world.thread() }, body: { title: "Mine" } }),
  deleteThread: async (world) => ({ params: { thread_id: await world.thread() } }),
  getIntelligence: () => ({}),
  updateIntelligence: () => ({ body: { enabled: true } }),
  getRecordingIntelligence: (world) => ({ params: recording(world) }),
  runRecordingIntelligence: (world) => ({ params: recording(world) }),
  putSummaryFeedback: async (world) => ({
    params: { recording_id: await world.summarized() },
    body: { rating: "up" },
  }),
  deleteSummaryFeedback: (world) => ({ params: recording(world) }),
  putTurnFeedback: async (world) => ({
    params: { thread_id: await world.thread(), number: "1" },
    body: { rating: "down" },
  }),
  deleteTurnFeedback: async (world) => ({ params: { thread_id: await world.thread(), number: "1" } }),
  listFeedback: () => ({}),
  getChapters: (world) => ({ params: recording(world) }),
  replaceChapters: (world) => ({ params: recording(world), body: { chapters: [] } }),
  listAllActionItems: () => ({}),
  listActionItems: (world) => ({ params: recording(world) }),
  updateActionItem: async (world) => ({
    params: { ...recording(world), item_id: await world.actionItem() },
    body: { status: "completed" },
  }),

  ...accountRequests,
  ...adminRequests,
  ...publicLinkRequests,
};

/** A request for access to the recording by a user who can't see it. */
async function accessRequest(world: World): Promise<OperationRequest> {
  const { recording_id } = recording(world);
  const user_id = world.users.ids.otherUser;
  await world.app.db.kysely
    .insertInto("access_requests")
    .values({ recording_id, user_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return { params: { recording_id, user_id } };
}

async function deliveryOf(world: World): Promise<OperationRequest> {
  const hookId = await world.hook();
  return { params: { hook_id: hookId, delivery_id: await world.delivery(hookId) } };
}
