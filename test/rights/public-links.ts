import { tokenOf } from "../../server/public-links/testing.ts";
import type { MakeAsk } from "./ask.ts";
import { but, type DoorCaller, type DoorRights, doorKinds, kinds, type Rights } from "./callers.ts";
import type { MakeDoorAsks } from "./door-ask.ts";
import type { World } from "./world.ts";

/** Who may what with public links, as rows of the table. A public recording is seen by the whole workspace. */
export const publicLinkRights: Readonly<Record<string, Rights>> = {
  listRecordingLinks: kinds.changes,
  createRecordingLink: kinds.changesMade,
  listHighlightLinks: kinds.changes,
  createHighlightLink: kinds.changes,
  listStoryLinks: kinds.changesMade,
  createStoryLink: kinds.changesMade,
  updatePublicLink: kinds.changes,
  "updatePublicLink of a public recording": kinds.changesMade,
  "updatePublicLink of a story": kinds.changesMade,
  deletePublicLink: kinds.changes,
  "deletePublicLink of a public recording": kinds.changesMade,
  "deletePublicLink of a story": kinds.changesMade,
  getShared: kinds.open,
  unlockShared: kinds.open,
  getSharedTranscript: kinds.open,
};

interface Made {
  readonly id: string;
  readonly url: string;
}

/** The link that comes with becoming public. */
async function ofRecording(world: World): Promise<Made> {
  await world.asRecorder("PATCH", `/_/api/v1/recordings/${world.recordingId}`, { share_state: "public" });
  return (await world.asRecorder("GET", `/_/api/v1/recordings/${world.recordingId}/links`)).links[0];
}

async function ofHighlight(world: World): Promise<Made> {
  return world.asRecorder("POST", `/_/api/v1/highlights/${await world.highlight()}/links`, {});
}

async function ofStory(world: World): Promise<Made> {
  return world.asRecorder("POST", `/_/api/v1/stories/${await world.story()}/links`, {});
}

const change =
  (make: (world: World) => Promise<Made>): MakeAsk =>
  async (world) => ({ params: { link_id: (await make(world)).id }, body: { allow_download: true } });
const remove =
  (make: (world: World) => Promise<Made>): MakeAsk =>
  async (world) => ({ params: { link_id: (await make(world)).id } });

export const publicLinkRequests: Readonly<Record<string, MakeAsk>> = {
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

const key: DoorRights = { ...doorKinds.oneTime, expired: 403 };

/** Pages and files of public links: the address itself is the key. */
export const publicLinkDoors: Readonly<Record<string, DoorRights>> = {
  "GET /_/api/v1/shared/:token/items/:item_id/files/:name": key,
  "GET /s/:token": but<DoorRights>(key, { expired: 410 }),
  "GET /embed/:token": but<DoorRights>(key, { expired: 410 }),
};

export const publicLinkDoorRequests: Readonly<Record<string, MakeDoorAsks>> = {
  "GET /_/api/v1/shared/:token/items/:item_id/files/:name": async (world, caller) => ({
    path: `/_/api/v1/shared/${await tokenFor(world, caller)}/items/recording/files/captions.vtt`,
  }),
  "GET /s/:token": async (world, caller) => ({ path: `/s/${await tokenFor(world, caller)}` }),
  "GET /embed/:token": async (world, caller) => ({ path: `/embed/${await tokenFor(world, caller)}` }),
};

async function tokenFor(world: World, caller: DoorCaller): Promise<string> {
  const link = await ofRecording(world);
  const token = tokenOf(link);
  if (caller === "right") return token;
  if (caller === "expired") {
    await world.app.db.pool.query("update public_links set expires_at = now() where id = $1", [link.id]);
    return token;
  }
  // The id alone is worth nothing, nor is the signature of another link.
  const other = caller === "wrong" ? tokenOf(await ofHighlight(world)).slice(32) : "0".repeat(32);
  return token.slice(0, 32) + other;
}
