import * as tokenInfo from "../../../contract/accounts/token-info.ts";
import * as audit from "../../../contract/governance/audit.ts";
import type { Operation, OperationResponse } from "../../../contract/operation.ts";
import * as highlights from "../../../contract/recordings/highlight-operations.ts";
import * as recordingManagement from "../../../contract/recordings/recording-management.ts";
import * as recordings from "../../../contract/recordings/recording-operations.ts";
import * as stories from "../../../contract/recordings/stories.ts";
import * as transcripts from "../../../contract/transcripts/transcripts.ts";
import * as uploads from "../../../contract/uploads/uploads.ts";
import { isOpen, type VersionName, versionNames } from "../../../contract/versions.ts";
import * as events from "../../../contract/webhooks/events.ts";
import * as hookManagement from "../../../contract/webhooks/hook-management.ts";
import * as hooks from "../../../contract/webhooks/hooks.ts";
import * as directory from "../../../contract/workspace/directory.ts";
import type { Json } from "./json.ts";
import type { Random } from "./random.ts";
import type { Ids, World } from "./world.ts";

/** An operation to send requests to. */
export interface Target {
  readonly id: string;
  readonly method: string;
  /** Path with `:name` parameters. */
  readonly path: string;
  /** A valid body with every property; null if the operation takes none. */
  readonly sample: { readonly [name: string]: Json } | null;
  /** Required properties. */
  readonly required: readonly string[];
  /** Query parameters. */
  readonly query: readonly string[];
  /** Whether a valid request is repeatable and therefore expected to succeed. */
  readonly isRead: boolean;
  readonly response: OperationResponse | null;
  readonly versions: readonly VersionName[];
}

const operations: Operation[] = [
  ...[directory, hooks, recordings, tokenInfo, transcripts, uploads].flatMap((module) =>
    Object.values(module),
  ),
  ...[audit, events, highlights, hookManagement, recordingManagement, stories].flatMap((module) =>
    Object.values(module),
  ),
  ...Object.values(transcripts.transcriptText),
].filter(isOperation);

function isOperation(value: unknown): value is Operation {
  return (
    typeof value === "object" && value !== null && "gate" in value && "path" in value && "method" in value
  );
}

/** Operations whose valid request can be repeated. */
const reads = ["list", "get", "tokenInfo"];

/** Deletions use unknown ids, because other requests need the objects. */
function sparing({ id, path }: Operation): string {
  return /^(delete(Recording|Highlight|Story)|(restore|purge)Recording)$/.test(id)
    ? path.replace(/:\w+/, ":nothing_id")
    : path;
}

/** Every operation of the contract and of the management API, and the token endpoint. */
export function targetsOf(world: World): Target[] {
  const samples = sampleBodies(world);
  const found = operations.map((operation): Target => {
    const shape = Object.entries(operation.body?.shape ?? {});
    const sample = operation.body === undefined ? null : (samples[operation.id] ?? null);
    if (shape.length > 0 && sample === null)
      throw new Error(`add a sample body for ${operation.id} to test/acceptance/fuzz/targets.ts`);
    return {
      id: operation.id,
      method: operation.method,
      path: sparing(operation),
      sample: sample ?? (operation.body === undefined ? null : {}),
      required: shape.filter(([, schema]) => !schema.safeParse(undefined).success).map(([name]) => name),
      query: Object.keys(operation.query?.shape ?? {}),
      isRead: reads.some((prefix) => operation.id.startsWith(prefix)),
      response: operation.response,
      versions: versionNames.filter((version) => isOpen(operation.gate, version)),
    };
  });
  return [...found, tokenEndpoint];
}

const tokenEndpoint: Target = {
  id: "token",
  method: "POST",
  path: "/_/public-api/oauth2/token",
  sample: {
    grant_type: "authorization_code",
    code: "abc",
    code_verifier: "0123456789012345678901234567890123456789012",
    client_id: "client",
    client_secret: "secret",
    refresh_token: "parley_ort_x",
  },
  required: [],
  query: [],
  isRead: false,
  response: null,
  versions: versionNames,
};

/** The path with existing ids. */
export function fillPath(path: string, ids: Ids, random: Random): string {
  return path.replace(/:(\w+)/g, (_all, name: string) => {
    switch (name) {
      case "recording_id":
        return random.pick(ids.recordings);
      case "highlight_id":
        return ids.highlight;
      case "story_id":
        return ids.story;
      case "hook_id":
        return ids.hook;
      case "upload_id":
        return random.pick(ids.stagedUploads);
      case "user_id":
        return random.pick(ids.users);
      case "team_id":
        return random.pick(ids.teams);
      case "tag":
        return "tag-1";
      default:
        return "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11";
    }
  });
}

function sampleBodies({ ids, cursors }: World): Record<string, { [name: string]: Json }> {
  const user = ids.users[0] ?? "";
  const team = ids.teams[0] ?? "";
  const attributes = {
    title: "Harbour contract",
    start_datetime: "2026-01-05T14:30:00.000Z",
    team_id: team,
    recorder_ids: [user],
    participants: [{ name: "Ann", email: "ann@parley.local", phone: "+44 1", speaker_key: "s1" }],
    transcript: {
      language: "en",
      segments: [
        { speaker_key: "s1", start: 0, end: 4000, text: "Good morning." },
        { speaker_key: "s2", start: 4200, end: 9000, text: "Shall we?" },
      ],
    },
  };
  const include = {
    highlights: true,
    participants: true,
    ai_action_items: true,
    ai_summary: true,
    private_notes: true,
    calendar_event: true,
    crm: true,
    screenshares: true,
    ai_template_sections: { format: "markdown", allowed_sections: ["Risks"] },
  };
  const uploadInclude = { attributes: true, transcript: true };
  return {
    emptyTrash: { deleted_before: "2000-01-01T00:00:00Z" },
    listRecordings: {
      cursor: cursors.recordings,
      filter: {
        before_datetime: "2020-01-01T00:00:00Z",
        after_datetime: "2030-01-01T00:00:00Z",
        attendance: "hosted",
        participant_scope: "internal",
        title_search: "harbour",
        team,
        meeting_type: "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11",
      },
      include,
    },
    getRecording: { include },
    updateRecording: { title: "Another title" },
    addTag: { tag: "tag-1" },
    shareToUser: { user_id: user },
    shareToTeam: { team_id: team },
    createUpload: { media_type: "transcript", auto_promote: true, include: uploadInclude, attributes },
    listUploads: { cursor: cursors.uploads, include: uploadInclude, filter: { media_type: "transcript" } },
    getUpload: { include: uploadInclude },
    updateUpload: { attributes, include: uploadInclude },
    promoteUpload: { include: uploadInclude },
    uploadRecording: { filename: "meeting.mp4", user_id: user },
    // A URL that hooks refuse, so that the test never leaves the machine.
    createHook: {
      hook_url: "https://127.0.0.1:9/hook",
      hook_type: "recording_added",
      include: { crm: true },
    },
    createHighlight: {
      text: "The price",
      timestamp: 0,
      duration: 4000,
      tags: ["price"],
      include: { transcript: true, speakers: true },
    },
    updateHighlight: {
      text: "The price again",
      timestamp: 100,
      duration: 3000,
      tags: [],
      include: { transcript: true, speakers: true },
    },
    createStory: {
      title: "Prices",
      description: "All of them",
      banner_image_url: "https://example.com/banner.png",
      tags: ["price"],
      highlight_ids: [ids.highlight],
      public: false,
    },
    updateStory: {
      title: "Prices again",
      description: "",
      banner_image_url: "https://example.com/banner.png",
      tags: [],
      highlight_ids: [ids.highlight],
      public: true,
    },
    replayHook: {
      since: new Date(Date.now() - 3_600_000).toISOString(),
      until: new Date().toISOString(),
      which: "failed",
    },
    rotateHookSecret: { overlap_sec: 60 },
    createDestination: {
      kind: "slack",
      name: "Channel",
      url: "https://hooks.example.com/services/1",
      link_people: false,
      conditions: { tag: "tag-1", scope: "external", title: "Prices" },
      template: "{summary}",
    },
    updateDestination: { name: "Channel", conditions: {}, template: null, enabled: true },
    previewDestination: { kind: "teams", recording_id: ids.recordings[0] ?? "", template: "{summary}" },
    listHooks: { filter: { hook_type: "recording_added", state: "enabled" } },
  };
}
