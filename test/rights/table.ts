import { but, type DoorRights, doorKinds, kinds, type Rights } from "./callers.ts";

/** Who otherwise might is told that it can't be: nothing crosses workspaces. */
function refusedToAll(row: Rights): Rights {
  const names = Object.keys(row) as (keyof Rights)[];
  return Object.fromEntries(names.map((name) => [name, row[name] === "ok" ? 400 : row[name]])) as Rights;
}

/** A browser, and nothing else. */
const onlySignedIn = but(kinds.account, {
  other_workspace: 403,
  no_access: 403,
  viewer: 403,
  participant: 403,
  team_member: 403,
  recorder: 403,
  admin: 403,
  admin_no_access: 403,
});

/**
 * Who may what: every operation of the contract and of the management API. `docs/rights.md` shows it, and the test
 * beside this file walks every cell over HTTP. Words after the name of an operation say of which case a row is, where
 * it has several.
 */
export const rights: Readonly<Record<string, Rights>> = {
  listUsers: kinds.own,
  listTeams: kinds.own,
  listMeetingTypes: kinds.own,
  // A person signed in with a browser carries no token.
  tokenInfo: but(kinds.own, { session: 403, admin_session: 403 }),

  listRecordings: kinds.own,
  getRecording: kinds.sees,
  updateRecording: kinds.changes,
  addTag: kinds.changes,
  removeTag: kinds.changes,
  shareToUser: kinds.changes,
  "shareToUser of another workspace": refusedToAll(kinds.changes),
  unshareFromUser: kinds.changes,
  shareToTeam: kinds.changes,
  "shareToTeam of another workspace": refusedToAll(kinds.changes),
  unshareFromTeam: kinds.changes,
  downloadRecording: kinds.sees,
  getTranscript: kinds.sees,
  getTranscript_txt: kinds.sees,
  getTranscript_vtt: kinds.sees,
  getTranscript_srt: kinds.sees,
  deleteRecording: kinds.changes,

  listHighlights: kinds.sees,
  listAllHighlights: kinds.own,
  createHighlight: kinds.adds,
  getHighlight: kinds.sees,
  updateHighlight: kinds.changes,
  deleteHighlight: kinds.changes,

  listStories: kinds.own,
  createStory: kinds.make,
  "createStory with a highlight of the recording": but(kinds.adds, {
    other_workspace: 400,
    no_access: 400,
    admin_no_access: 400,
  }),
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

  search: kinds.own,

  getRecordingView: kinds.sees,
  updateRecordingData: kinds.changes,
  getRecordingMedia: kinds.sees,
  createParticipant: kinds.changes,
  updateParticipant: kinds.changes,
  deleteParticipant: kinds.changes,
  getPrivateNotes: kinds.notes,
  putPrivateNotes: kinds.notes,
  deletePrivateNotes: kinds.notes,
  importRecording: kinds.make,
  getImport: kinds.myUpload,
  listManagedMeetingTypes: kinds.manages,
  createMeetingType: kinds.manages,
  updateMeetingType: kinds.managesHere,
  deleteMeetingType: kinds.managesHere,

  getTranscriptView: kinds.sees,
  correctTranscript: kinds.changes,
  renameSpeaker: kinds.changes,
  mergeSpeakers: kinds.changes,
  assignSegments: kinds.changes,
  undoTranscriptEdit: kinds.changes,
  listTranscriptEdits: kinds.sees,
  getTranscriptEdit: kinds.sees,
  rerunTranscription: kinds.changes,

  listTemplates: kinds.own,
  createTemplate: kinds.manages,
  getTemplate: kinds.inWorkspace,
  updateTemplate: kinds.managesHere,
  deleteTemplate: kinds.managesHere,
  getIntelligence: kinds.manages,
  updateIntelligence: kinds.manages,
  getRecordingIntelligence: kinds.sees,
  runRecordingIntelligence: kinds.changes,
  listActionItems: kinds.sees,
  updateActionItem: kinds.changes,

  signInWithPassword: kinds.open,
  getMe: kinds.account,
  updateMe: kinds.account,
  changePassword: kinds.account,
  // A token is revoked instead.
  signOut: onlySignedIn,
  listSessions: kinds.account,
  endSession: kinds.account,
  "endSession of somebody else": but(kinds.accountOrAdmins, {
    admin: 404,
    admin_session: 404,
    admin_no_access: 404,
  }),
  endSessions: kinds.account,
  createToken: kinds.account,
  "createToken for the workspace": kinds.admins,
  listTokens: kinds.account,
  "listTokens of the workspace": kinds.admins,
  revokeToken: kinds.account,
  "revokeToken of somebody else": kinds.accountOrAdmins,
  listOAuthGrants: kinds.account,
  "listOAuthGrants of somebody else": kinds.adminsHere,
  revokeOAuthGrant: kinds.account,
  "revokeOAuthGrant of somebody else": kinds.accountOrAdmins,

  listPeople: kinds.admins,
  inviteUser: kinds.admins,
  "inviteUser into a team of another workspace": refusedToAll(kinds.admins),
  renewInvitation: kinds.adminsHere,
  updateUser: kinds.adminsHere,
  deactivateUser: kinds.adminsHere,
  reactivateUser: kinds.adminsHere,
  createPasswordResetLink: kinds.adminsHere,
  unbindSingleSignOn: kinds.adminsHere,
  listTeamMembers: kinds.own,
  createTeam: kinds.admins,
  renameTeam: kinds.adminsHere,
  deleteTeam: kinds.adminsHere,
  addTeamMember: kinds.adminsHere,
  "addTeamMember of another workspace": refusedToAll(kinds.adminsHere),
  removeTeamMember: kinds.adminsHere,
  getWorkspace: kinds.own,
  updateWorkspace: kinds.admins,

  listOAuthClients: kinds.admins,
  createOAuthClient: kinds.admins,
  getOAuthClient: kinds.adminsHere,
  updateOAuthClient: kinds.adminsHere,
  rotateOAuthClientSecret: kinds.adminsHere,
  deleteOAuthClient: kinds.adminsHere,

  listAudit: kinds.admins,
  exportAudit: kinds.admins,

  listRetentionRules: kinds.admins,
  createRetentionRule: kinds.admins,
  updateRetentionRule: kinds.adminsHere,
  deleteRetentionRule: kinds.adminsHere,
  previewRetention: kinds.admins,
  listRetentionReceipts: kinds.admins,
  listLegalHolds: kinds.admins,
  // Also on what they don't see: a hold keeps, and shows nothing.
  placeLegalHold: kinds.adminsHere,
  releaseLegalHold: kinds.adminsHere,
  erasePerson: kinds.admins,
  getErasure: kinds.adminsHere,
};

const { open, signed, oneTime, ofApp } = doorKinds;
/** A form of a signed-in person carries what only their own page has. */
const form = { session: 403 } as const;

/** Every other route of the server. HEAD is asked wherever GET is, and has to be refused as GET is. */
export const doors: Readonly<Record<string, DoorRights>> = {
  "GET /_/media/recordings/:recording_id/media": signed,
  "GET /_/media/recordings/:recording_id/thumbnail.jpg": signed,
  "GET /_/media/recordings/:recording_id/files/:name": signed,
  "GET /_/media/highlights/:highlight_id/thumbnail.jpg": signed,

  "PUT /_/media/uploads/:upload_id": signed,
  "POST /_/media/resumable/:upload_id": signed,
  "HEAD /_/media/resumable/:upload_id": signed,
  "PATCH /_/media/resumable/:upload_id": signed,
  "DELETE /_/media/resumable/:upload_id": signed,
  // What a browser asks before it sends; the answer is the same for every address.
  "OPTIONS /_/media/uploads/:upload_id": open,
  "OPTIONS /_/media/resumable/:upload_id": open,
  "POST /_/storage/notifications": ofApp,

  "GET /sign-in": but<DoorRights>(open, { anonymous: "asks", token: "asks" }),
  "POST /sign-in": but<DoorRights>(ofApp, form),
  "GET /sign-out": open,
  "POST /sign-out": but<DoorRights>(open, { ...form, wrong: 403, right: "ok" }),
  "GET /sign-in/sso": open,
  // The key is the way back of the browser that went, once.
  "GET /sign-in/callback": but<DoorRights>(signed, { expired: 400 }),
  "GET /invitations/:token": oneTime,
  "POST /invitations/:token": but<DoorRights>(oneTime, form),
  "GET /password-reset/:token": oneTime,
  "POST /password-reset/:token": but<DoorRights>(oneTime, form),
  // Asks for a mail, whether or not there is such a person.
  "GET /password-reset": open,
  "POST /password-reset": but<DoorRights>(open, form),

  // Only a session is asked whether it lets the app in; the key is the hidden field of the page that asks.
  "GET /_/public-api/oauth2/authorize": but<DoorRights>(open, {
    anonymous: "asks",
    token: "asks",
    wrong: 400,
  }),
  "POST /_/public-api/oauth2/authorize": {
    anonymous: "asks",
    session: 403,
    token: "asks",
    wrong: 403,
    expired: null,
    right: "ok",
  },
  "POST /_/public-api/oauth2/token": but<DoorRights>(ofApp, { expired: 400 }),
  "POST /_/public-api/oauth2/revoke": ofApp,
  "OPTIONS /_/public-api/oauth2/token": open,
  "OPTIONS /_/public-api/oauth2/revoke": open,
  "GET /.well-known/oauth-authorization-server": open,
  "OPTIONS /.well-known/oauth-authorization-server": open,
  "GET /.well-known/oauth-protected-resource": open,
  "GET /.well-known/oauth-protected-resource/mcp": open,

  // Assistants carry tokens, never a browser's session.
  "POST /mcp": { anonymous: 401, session: 403, token: "ok", wrong: 401, expired: 401, right: "ok" },
  "GET /mcp": { anonymous: 401, session: 405, token: 405, wrong: 401, expired: 401, right: 405 },
  "DELETE /mcp": { anonymous: 401, session: 405, token: 405, wrong: 401, expired: 401, right: 405 },

  "GET /healthz": open,
  "GET /readyz": open,
  "GET /openapi/:file": open,
  "GET /docs": open,
  "GET /docs/:version": open,
  "GET /docs/errors": open,
  "GET /docs/migration": open,
  "GET /docs/assets/swagger-ui.css": open,
  "GET /docs/assets/swagger-ui-bundle.js": open,
  "GET /docs/assets/start.js": open,
  "GET /docs/assets/docs.css": open,

  // The web app's one document, the same at every address: what it shows it asks the API for.
  "GET /": open,
  "GET /recordings/:recording_id": open,
  "GET /search": open,
  "GET /uploads": open,
  "GET /uploads/:upload_id": open,
  "GET /highlights": open,
  "GET /highlights/:highlight_id": open,
  "GET /stories": open,
  "GET /stories/:story_id": open,
  "GET /settings": open,
  "GET /settings/*": open,
  "GET /assets/*": open,
  "GET /assets/pages-:hash.css": open,
  "GET /icon.svg": open,
};
