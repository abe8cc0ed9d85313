import { but, type DoorRights, doorKinds } from "./callers.ts";
import { publicLinkDoors } from "./public-links.ts";

const { open, signed, oneTime, ofApp } = doorKinds;
/** A form of a signed-in person carries what only their own page has. */
const form = { session: 403 } as const;

/** Every other route of the server. HEAD is asked wherever GET is, and has to be refused as GET is. */
export const doors: Readonly<Record<string, DoorRights>> = {
  "GET /_/media/recordings/:recording_id/media": signed,
  "GET /_/media/recordings/:recording_id/thumbnail.jpg": signed,
  "GET /_/media/recordings/:recording_id/files/:name": signed,
  "GET /_/media/highlights/:highlight_id/thumbnail.jpg": signed,
  ...publicLinkDoors,

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
