import { tokenOf } from "../../server/sharing/public-links/test/public-links.ts";
import {
  except,
  kinds,
  type Permissions,
  type RouteCaller,
  type RoutePermissions,
  routeKinds,
} from "./callers.ts";
import type { BuildRequest } from "./request.ts";
import type { BuildRouteRequests } from "./route-request.ts";
import { storyWithBanner } from "./story-banner.ts";
import type { World } from "./world.ts";

/** Rows of the permission table about public links. The whole workspace can see a public recording. */
export const publicLinkPermissions: Readonly<Record<string, Permissions>> = {
  listRecordingLinks: kinds.changes,
  createRecordingLink: kinds.changesCreated,
  listHighlightLinks: kinds.changes,
  createHighlightLink: kinds.changes,
  listStoryLinks: kinds.changesCreated,
  createStoryLink: kinds.changesCreated,
  updatePublicLink: kinds.changes,
  "updatePublicLink of a public recording": kinds.changesCreated,
  "updatePublicLink of a story": kinds.changesCreated,
  deletePublicLink: kinds.changes,
  "deletePublicLink of a public recording": kinds.changesCreated,
  "deletePublicLink of a story": kinds.changesCreated,
  getShared: kinds.open,
  unlockShared: kinds.open,
  getSharedTranscript: kinds.open,
};

interface CreatedLink {
  readonly id: string;
  readonly url: string;
}

/** The link created by publishing the recording. */
async function ofRecording(world: World): Promise<CreatedLink> {
  await world.asRecorder("PATCH", `/_/api/v1/recordings/${world.recordingId}`, { share_state: "public" });
  return (await world.asRecorder("GET", `/_/api/v1/recordings/${world.recordingId}/links`)).links[0];
}

async function ofHighlight(world: World): Promise<CreatedLink> {
  return world.asRecorder("POST", `/_/api/v1/highlights/${await world.highlight()}/links`, {});
}

async function ofStory(world: World): Promise<CreatedLink> {
  return world.asRecorder("POST", `/_/api/v1/stories/${await world.story()}/links`, {});
}

async function ofStoryWithBanner(world: World): Promise<CreatedLink> {
  return world.asRecorder("POST", `/_/api/v1/stories/${await storyWithBanner(world)}/links`, {});
}

const change =
  (make: (world: World) => Promise<CreatedLink>): BuildRequest =>
  async (world) => ({ params: { link_id: (await make(world)).id }, body: { allow_download: true } });
const remove =
  (make: (world: World) => Promise<CreatedLink>): BuildRequest =>
  async (world) => ({ params: { link_id: (await make(world)).id } });

export const publicLinkRequests: Readonly<Record<string, BuildRequest>> = {
  listRecordingLinks: (world) => ({ params: { recording_id: world.recordingId } }),
  createRecordingLink: async (world) => {
    await ofRecording(world);
    return { params: { recording_id: world.recordingId }, body: {} };
  },
  listHighlightLinks: async (world) => ({ params: { highlight_id: await world.highlight() } }),
  createHighlightLink: async (world) => ({ params: { highlight_id: await world.highlight() }, body: {} }),
  listStoryLinks: async (world) => ({ params: { story_id: await world.story() } }),
  createStoryLink: async (world) => ({ params: { story_id: await world.story() }, body: {} }),
  updatePublicLink: change(ofHighlight),
  "updatePublicLink of a public recording": change(ofRecording),
  "updatePublicLink of a story": change(ofStory),
  deletePublicLink: remove(ofHighlight),
  "deletePublicLink of a public recording": remove(ofRecording),
  "deletePublicLink of a story": remove(ofStory),
  getShared: async (world) => ({ params: { token: tokenOf(await ofRecording(world)) } }),
  unlockShared: async (world) => ({
    params: { token: tokenOf(await ofRecording(world)) },
    body: { password: "none is needed" },
  }),
  getSharedTranscript: async (world) => ({
    params: { token: tokenOf(await ofRecording(world)), item_id: "recording" },
  }),
};

const key: RoutePermissions = { ...routeKinds.oneTime, expired: 403 };

/** Pages and files of public links: the URL itself is the key. */
export const publicLinkRoutes: Readonly<Record<string, RoutePermissions>> = {
  "GET /_/api/v1/shared/:token/items/:item_id/files/:name": key,
  "GET /_/api/v1/shared/:token/banner": key,
  "GET /s/:token": except<RoutePermissions>(key, { expired: 410 }),
  "GET /embed/:token": except<RoutePermissions>(key, { expired: 410 }),
};

export const publicLinkRouteRequests: Readonly<Record<string, BuildRouteRequests>> = {
  "GET /_/api/v1/shared/:token/items/:item_id/files/:name": async (world, caller) => ({
    path: `/_/api/v1/shared/${await tokenFor(world, caller)}/items/recording/files/captions.vtt`,
  }),
  "GET /_/api/v1/shared/:token/banner": async (world, caller) => ({
    path: `/_/api/v1/shared/${await tokenFor(world, caller, await ofStoryWithBanner(world))}/banner`,
  }),
  "GET /s/:token": async (world, caller) => ({ path: `/s/${await tokenFor(world, caller)}` }),
  "GET /embed/:token": async (world, caller) => ({ path: `/embed/${await tokenFor(world, caller)}` }),
};

async function tokenFor(world: World, caller: RouteCaller, created?: CreatedLink): Promise<string> {
  const link = created ?? (await ofRecording(world));
  const token = tokenOf(link);
  if (caller === "right") return token;
  if (caller === "expired") {
    await world.app.db.pool.query(
      "update public_links set expires_at = now() - interval '1 second' where id = $1",
      [link.id],
    );
    return token;
  }
  // Neither the id alone nor the signature of another link is enough.
  const other = caller === "wrong" ? tokenOf(await ofHighlight(world)).slice(32) : "0".repeat(32);
  return token.slice(0, 32) + other;
}
