import type { IHttpRequestMethods, INodePropertyOptions } from "n8n-workflow";
import { hookTypeNames } from "./hook-types";

/** A field of an operation: where its value goes, and how n8n asks for it. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly in: "path" | "body";
  readonly type: "string" | "boolean" | "json" | "options" | "dateTime";
  readonly isRequired?: boolean;
  readonly options?: INodePropertyOptions[];
  readonly hint?: string;
}

/** An operation of the API. */
export interface Operation {
  readonly resource: string;
  readonly name: string;
  readonly value: string;
  readonly action: string;
  readonly method: IHttpRequestMethods;
  /** Below `/_/public-api/v2`; `{name}` is replaced by the field of this name. */
  readonly path: string;
  readonly fields: readonly Field[];
  /** The property of the response that holds the items; paged if the response has a `cursor`. */
  readonly items?: string;
  /** Text and files are not JSON. */
  readonly returns?: "text" | "file";
}

export const resources: INodePropertyOptions[] = [
  { name: "Directory", value: "directory" },
  { name: "Recording", value: "recording" },
  { name: "Token", value: "token" },
  { name: "Transcript", value: "transcript" },
  { name: "Upload", value: "upload" },
  { name: "Webhook", value: "hook" },
];

const recordingId: Field = {
  name: "recording_id",
  label: "Recording ID",
  in: "path",
  type: "string",
  isRequired: true,
};
const uploadId: Field = {
  name: "upload_id",
  label: "Upload ID",
  in: "path",
  type: "string",
  isRequired: true,
};
const recordingInclude: Field = {
  name: "include",
  label: "Include",
  in: "body",
  type: "json",
  hint: 'Extra data, such as {"participants": true, "ai_summary": true}',
};
const uploadInclude: Field = {
  name: "include",
  label: "Include",
  in: "body",
  type: "json",
  hint: 'Extra data: {"attributes": true, "transcript": true}',
};
const attributes: Field = {
  name: "attributes",
  label: "Attributes",
  in: "body",
  type: "json",
  hint: "Title, start_datetime, team_id, recorder_ids, participants, transcript",
};

function inBody(name: string, label: string): Field {
  return { name, label, in: "body", type: "string", isRequired: true };
}

function inPath(name: string, label: string): Field {
  return { name, label, in: "path", type: "string", isRequired: true };
}

function choices(...values: readonly string[]): INodePropertyOptions[] {
  return values.map((value) => ({ name: value, value }));
}

export const hookTypes = choices(...hookTypeNames);

/** Every operation of API version 2026-10-01. */
export const operations: readonly Operation[] = [
  {
    resource: "recording",
    name: "List",
    value: "listRecordings",
    action: "List recordings",
    method: "POST",
    path: "/recordings",
    fields: [
      {
        name: "filter",
        label: "Filter",
        in: "body",
        type: "json",
        hint: 'For example {"title_search": "Harbour", "attendance": "hosted"}',
      },
      recordingInclude,
    ],
    items: "recordings",
  },
  {
    resource: "recording",
    name: "Get",
    value: "getRecording",
    action: "Get a recording",
    method: "POST",
    path: "/recordings/{recording_id}",
    fields: [recordingId, recordingInclude],
  },
  {
    resource: "recording",
    name: "Rename",
    value: "updateRecording",
    action: "Rename a recording",
    method: "PATCH",
    path: "/recordings/{recording_id}",
    fields: [recordingId, inBody("title", "Title")],
  },
  {
    resource: "recording",
    name: "Download",
    value: "downloadRecording",
    action: "Download a recording",
    method: "GET",
    path: "/recordings/{recording_id}/download",
    fields: [recordingId],
    returns: "file",
  },
  {
    resource: "recording",
    name: "Add Tag",
    value: "addTag",
    action: "Add a tag to a recording",
    method: "PUT",
    path: "/recordings/{recording_id}/tags",
    fields: [recordingId, inBody("tag", "Tag")],
  },
  {
    resource: "recording",
    name: "Remove Tag",
    value: "removeTag",
    action: "Remove a tag from a recording",
    method: "DELETE",
    path: "/recordings/{recording_id}/tags/{tag}",
    fields: [recordingId, inPath("tag", "Tag")],
  },
  {
    resource: "recording",
    name: "Share to User",
    value: "shareToUser",
    action: "Share a recording to a user",
    method: "PUT",
    path: "/recordings/{recording_id}/users",
    fields: [recordingId, inBody("user_id", "User ID")],
  },
  {
    resource: "recording",
    name: "Unshare From User",
    value: "unshareFromUser",
    action: "Unshare a recording from a user",
    method: "DELETE",
    path: "/recordings/{recording_id}/users/{user_id}",
    fields: [recordingId, inPath("user_id", "User ID")],
  },
  {
    resource: "recording",
    name: "Share to Team",
    value: "shareToTeam",
    action: "Share a recording to a team",
    method: "PUT",
    path: "/recordings/{recording_id}/teams",
    fields: [recordingId, inBody("team_id", "Team ID")],
  },
  {
    resource: "recording",
    name: "Unshare From Team",
    value: "unshareFromTeam",
    action: "Unshare a recording from a team",
    method: "DELETE",
    path: "/recordings/{recording_id}/teams/{team_id}",
    fields: [recordingId, inPath("team_id", "Team ID")],
  },
  {
    resource: "transcript",
    name: "Get Entries",
    value: "getTranscript",
    action: "Get the entries of a transcript",
    method: "GET",
    path: "/recordings/{recording_id}/transcript",
    fields: [recordingId],
  },
  ...(["txt", "vtt", "srt"] as const).map(
    (format): Operation => ({
      resource: "transcript",
      name: { txt: "Get Text", vtt: "Get WebVTT", srt: "Get SubRip" }[format],
      value: `getTranscript_${format}`,
      action: `Get a transcript as ${format}`,
      method: "GET",
      path: `/recordings/{recording_id}/transcript.${format}`,
      fields: [recordingId],
      returns: "text",
    }),
  ),
  {
    resource: "upload",
    name: "Create",
    value: "createUpload",
    action: "Create an upload",
    method: "POST",
    path: "/uploads/create",
    fields: [
      {
        name: "media_type",
        label: "Media Type",
        in: "body",
        type: "options",
        isRequired: true,
        options: choices("audio", "transcript", "video"),
      },
      attributes,
      { name: "auto_promote", label: "Publish When Ready", in: "body", type: "boolean" },
      uploadInclude,
    ],
  },
  {
    resource: "upload",
    name: "List",
    value: "listUploads",
    action: "List uploads",
    method: "POST",
    path: "/uploads",
    fields: [
      { name: "filter", label: "Filter", in: "body", type: "json", hint: '{"media_type": "video"}' },
      uploadInclude,
    ],
    items: "uploads",
  },
  {
    resource: "upload",
    name: "Get",
    value: "getUpload",
    action: "Get an upload",
    method: "POST",
    path: "/uploads/{upload_id}",
    fields: [uploadId, uploadInclude],
  },
  {
    resource: "upload",
    name: "Update",
    value: "updateUpload",
    action: "Update an upload",
    method: "PATCH",
    path: "/uploads/{upload_id}",
    fields: [uploadId, attributes, uploadInclude],
  },
  {
    resource: "upload",
    name: "Promote",
    value: "promoteUpload",
    action: "Promote an upload",
    method: "POST",
    path: "/uploads/{upload_id}/promote",
    fields: [uploadId, uploadInclude],
  },
  {
    resource: "hook",
    name: "Create",
    value: "createHook",
    action: "Create a webhook",
    method: "POST",
    path: "/hooks/create",
    fields: [
      inBody("hook_url", "URL"),
      {
        name: "hook_type",
        label: "Event",
        in: "body",
        type: "options",
        isRequired: true,
        options: hookTypes,
      },
      recordingInclude,
    ],
  },
  {
    resource: "hook",
    name: "List",
    value: "listHooks",
    action: "List webhooks",
    method: "POST",
    path: "/hooks",
    fields: [{ name: "filter", label: "Filter", in: "body", type: "json", hint: '{"state": "enabled"}' }],
    items: "hooks",
  },
  {
    resource: "hook",
    name: "Delete",
    value: "deleteHook",
    action: "Delete a webhook",
    method: "DELETE",
    path: "/hooks/{hook_id}",
    fields: [inPath("hook_id", "Webhook ID")],
  },
  ...(["users", "teams", "meeting_types"] as const).map(
    (kind): Operation => ({
      resource: "directory",
      name: { users: "List Users", teams: "List Teams", meeting_types: "List Meeting Types" }[kind],
      value: { users: "listUsers", teams: "listTeams", meeting_types: "listMeetingTypes" }[kind],
      action: `List ${kind.replace("_", " ")}`,
      method: "POST",
      path: `/${kind}`,
      fields: [],
      items: kind,
    }),
  ),
  {
    resource: "token",
    name: "Get Info",
    value: "tokenInfo",
    action: "Get info about the token",
    method: "GET",
    path: "/token-info",
    fields: [],
  },
];
