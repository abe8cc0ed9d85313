import { except, type RoutePermissions, routeKinds } from "./callers.ts";
import { publicLinkRoutes } from "./public-links.ts";

const { open, signed, oneTime, ofApp } = routeKinds;
/** A signed-in user's form needs the hidden field of its page. */
const form = { session: 403 } as const;

/** Requires a SCIM token; no other token counts. */
const scim = except<RoutePermissions>(ofApp, { expired: 401 });

/** Every route outside the API operations. HEAD is tested wherever GET is, with the same outcome. */
export const otherRoutes: Readonly<Record<string, RoutePermissions>> = {
  "GET /_/media/recordings/:recording_id/media": signed,
  "GET /_/media/recordings/:recording_id/thumbnail.jpg": except<RoutePermissions>(signed, { expired: 404 }),
  "GET /_/media/recordings/:recording_id/files/:name": signed,
  "GET /_/media/highlights/:highlight_id/thumbnail.jpg": except<RoutePermissions>(signed, { expired: 404 }),
  "GET /_/media/highlights/:highlight_id/clip": signed,
  ...publicLinkRoutes,

  "PUT /_/media/uploads/:upload_id": signed,
  "POST /_/media/resumable/:upload_id": signed,
  "HEAD /_/media/resumable/:upload_id": signed,
  "PATCH /_/media/resumable/:upload_id": signed,
  "DELETE /_/media/resumable/:upload_id": signed,
  // CORS preflight requests; the response is the same for every URL.
  "OPTIONS /_/media/recordings/:recording_id/media": open,
  "OPTIONS /_/media/recordings/:recording_id/thumbnail.jpg": open,
  "OPTIONS /_/media/recordings/:recording_id/files/:name": open,
  "OPTIONS /_/media/highlights/:highlight_id/thumbnail.jpg": open,
  "OPTIONS /_/media/highlights/:highlight_id/clip": open,
  "OPTIONS /_/media/uploads/:upload_id": open,
  "OPTIONS /_/media/resumable/:upload_id": open,
  "POST /_/storage/notifications": ofApp,
  "POST /_/connect/:kind/:connection_id": ofApp,

  "GET /_/scim/v2/Users": scim,
  "GET /_/scim/v2/Users/:id": scim,
  "POST /_/scim/v2/Users": scim,
  "PUT /_/scim/v2/Users/:id": scim,
  "PATCH /_/scim/v2/Users/:id": scim,
  "DELETE /_/scim/v2/Users/:id": scim,
  "GET /_/scim/v2/Groups": scim,
  "GET /_/scim/v2/Groups/:id": scim,
  "POST /_/scim/v2/Groups": scim,
  "PUT /_/scim/v2/Groups/:id": scim,
  "PATCH /_/scim/v2/Groups/:id": scim,
  "DELETE /_/scim/v2/Groups/:id": scim,
  "POST /_/scim/v2/.search": scim,
  "POST /_/scim/v2/Users/.search": scim,
  "POST /_/scim/v2/Groups/.search": scim,
  "GET /_/scim/v2/ServiceProviderConfig": scim,
  "GET /_/scim/v2/ResourceTypes": scim,
  "GET /_/scim/v2/ResourceTypes/:id": scim,
  "GET /_/scim/v2/Schemas": scim,
  "GET /_/scim/v2/Schemas/:id": scim,

  "GET /sign-in": except<RoutePermissions>(open, { anonymous: "asks", token: "asks" }),
  "POST /sign-in": except<RoutePermissions>(ofApp, form),
  // The key is the started sign-in of this browser; without it both lead back to the sign-in page.
  "GET /sign-in/code": open,
  "POST /sign-in/code": except<RoutePermissions>(ofApp, form),
  "GET /sign-in/passkeys.js": open,
  "GET /sign-out": open,
  "POST /sign-out": except<RoutePermissions>(open, { ...form, wrong: 403, right: "ok" }),
  "GET /sign-in/sso": open,
  // The key is the single-use return of the browser that started the sign-in.
  "GET /sign-in/callback": except<RoutePermissions>(signed, { expired: 400 }),
  "GET /sign-in/callback/:provider": except<RoutePermissions>(signed, { expired: 400 }),
  // The key is the logout token, which the provider has signed.
  "POST /sign-in/back-channel-logout/:provider": {
    anonymous: 400,
    session: 400,
    token: 400,
    wrong: 400,
    expired: 400,
    right: "ok",
  },
  "GET /invitations/:token": oneTime,
  "POST /invitations/:token": except<RoutePermissions>(oneTime, form),
  "GET /password-reset/:token": oneTime,
  "POST /password-reset/:token": except<RoutePermissions>(oneTime, form),
  // Works signed out; the link does not expire.
  "GET /unsubscribe/:token": except<RoutePermissions>(oneTime, { expired: null }),
  "POST /unsubscribe/:token": except<RoutePermissions>(oneTime, { expired: null }),
  // Responds alike whether or not the user exists.
  "GET /password-reset": open,
  "POST /password-reset": except<RoutePermissions>(open, form),

  // Only a session gets the authorization page; the key is the page's hidden field.
  "GET /_/public-api/oauth2/authorize": except<RoutePermissions>(open, {
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
  "POST /_/public-api/oauth2/token": except<RoutePermissions>(ofApp, { expired: 400 }),
  "POST /_/public-api/oauth2/revoke": ofApp,
  "OPTIONS /_/public-api/oauth2/token": open,
  "OPTIONS /_/public-api/oauth2/revoke": open,
  "GET /.well-known/oauth-authorization-server": open,
  "OPTIONS /.well-known/oauth-authorization-server": open,
  "POST /_/public-api/oauth2/register": open,
  "OPTIONS /_/public-api/oauth2/register": open,
  "GET /.well-known/oauth-protected-resource": open,
  "OPTIONS /.well-known/oauth-protected-resource": open,
  "GET /.well-known/oauth-protected-resource/mcp": open,
  "OPTIONS /.well-known/oauth-protected-resource/mcp": open,

  // Assistants use tokens, never a browser session.
  "POST /mcp": { anonymous: 401, session: 403, token: "ok", wrong: 401, expired: 401, right: "ok" },
  "GET /mcp": { anonymous: 401, session: 405, token: 405, wrong: 401, expired: 401, right: 405 },
  "DELETE /mcp": { anonymous: 401, session: 405, token: 405, wrong: 401, expired: 401, right: 405 },

  "GET /.well-known/security.txt": open,
  "GET /security-contact": open,
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

  // The web app's document, the same for every path; its data comes from the API.
  "GET /": open,
  "GET /recordings/:recording_id": open,
  "GET /search": open,
  "GET /uploads": open,
  "GET /uploads/:upload_id": open,
  "GET /meetings/:meeting_id": open,
  "GET /record/:upload_id": open,
  "GET /recordings/:recording_id/print": open,
  "GET /highlights": open,
  "GET /highlights/:highlight_id": open,
  "GET /stories": open,
  "GET /stories/:story_id": open,
  "GET /action-items": open,
  "GET /ask": open,
  "GET /ask/:thread_id": open,
  "GET /trash": open,
  "GET /settings": open,
  "GET /settings/*": open,
  "GET /assets/*": open,
  "GET /assets/pages-:hash.css": open,
  "GET /icon.svg": open,
  "GET /icon-192.png": open,
  "GET /icon-512.png": open,
  "GET /icon-maskable-512.png": open,
  "GET /apple-touch-icon.png": open,
  "GET /manifest.webmanifest": open,
  "GET /service-worker.js": open,
  "GET /offline": open,
};
