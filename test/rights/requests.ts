import { randomBytes } from "node:crypto";
import { olderVersion } from "../support/app.ts";
import type { Caller } from "./callers.ts";
import type { World } from "./world.ts";

/** What one operation is asked with; what is left out is empty. */
export interface Ask {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly query?: string;
  /** When another version than the newest is to be spoken. */
  readonly version?: string;
}

export type MakeAsk = (world: World, caller: Caller) => Ask | Promise<Ask>;

const recording = (world: World) => ({ recording_id: world.recordingId });
const unique = (): string => randomBytes(6).toString("hex");

/** A good request for each operation, whoever sends it. */
export const requests: Readonly<Record<string, MakeAsk>> = {
  listUsers: () => ({}),
  listTeams: () => ({}),
  listMeetingTypes: () => ({}),
  tokenInfo: () => ({}),

  listRecordings: () => ({ body: { include: { participants: true, highlights: true } } }),
  getRecording: (world) => ({ params: recording(world), body: { include: { participants: true } } }),
  updateRecording: (world) => ({ params: recording(world), body: { title: `Another ${unique()}` } }),
  addTag: (world) => ({ params: recording(world), body: { tag: unique() } }),
  removeTag: (world) => ({ params: { ...recording(world), tag: "harbour" } }),
  shareToUser: (world) => ({ params: recording(world), body: { user_id: world.people.ids.somebody } }),
  unshareFromUser: (world) => ({ params: { ...recording(world), user_id: world.people.ids.viewer } }),
  shareToTeam: (world) => ({ params: recording(world), body: { team_id: world.people.teamId } }),
  unshareFromTeam: (world) => ({ params: { ...recording(world), team_id: world.people.teamId } }),
  downloadRecording: async (world) => ({ params: { recording_id: await world.withMedia() } }),
  getTranscript: (world) => ({ params: recording(world) }),
  getTranscript_txt: (world) => ({ params: recording(world) }),
  getTranscript_vtt: (world) => ({ params: recording(world) }),
  getTranscript_srt: (world) => ({ params: recording(world) }),
  deleteRecording: (world) => ({ params: recording(world) }),

  listHighlights: (world) => ({ params: recording(world) }),
  createHighlight: (world) => ({
    params: recording(world),
    body: { text: "A clip", timestamp: 0, duration: 500 },
  }),
  getHighlight: async (world) => ({ params: { highlight_id: await world.highlight() } }),
  updateHighlight: async (world) => ({
    params: { highlight_id: await world.highlight() },
    body: { text: "New" },
  }),
  deleteHighlight: async (world) => ({ params: { highlight_id: await world.highlight() } }),

  listStories: () => ({}),
  createStory: () => ({ body: { title: "A story" } }),
  getStory: async (world) => ({ params: { story_id: await world.story() } }),
  updateStory: async (world) => ({ params: { story_id: await world.story() }, body: { title: "New" } }),
  deleteStory: async (world) => ({ params: { story_id: await world.story() } }),

  createUpload: (world, caller) => ({
    body: {
      media_type: "transcript",
      attributes: {
        ...(caller === "workspace_token" ? { recorder_ids: [world.people.ids.recorder] } : {}),
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
      ...(caller === "workspace_token" ? { user_id: world.people.ids.recorder } : {}),
    },
  }),

  createHook: (world) => ({
    body: { hook_url: `${world.receiver.url}/hook`, hook_type: "recording_deleted" },
    version: olderVersion,
  }),
  listHooks: () => ({}),
  deleteHook: async (world) => ({ params: { hook_id: await world.hook() } }),
  listAllHooks: () => ({}),
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
  listEvents: () => ({}),
};

async function deliveryOf(world: World): Promise<Ask> {
  const hookId = await world.hook();
  return { params: { hook_id: hookId, delivery_id: await world.delivery(hookId) } };
}
