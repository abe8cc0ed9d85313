import { z } from "zod";
import { CursorInput, ignoredIncludeWarning, NextCursor, Success, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import {
  Recording,
  RecordingFilter,
  RecordingInclude,
  RecordingParams,
  RecordingTitle,
  Tag,
} from "./recordings.ts";

export const listRecordings = operation({
  id: "listRecordings",
  tag: "Recordings",
  gate: "every_version",
  permission: "read",
  method: "POST",
  path: "/_/public-api/v2/recordings",
  summary: "List Recordings",
  description:
    "Lists the recordings that the token can see, newest first, paginated. Filters combine with AND.",
  body: z.object({
    cursor: CursorInput.optional(),
    filter: RecordingFilter.optional(),
    include: RecordingInclude.optional(),
  }),
  response: z.strictObject({ cursor: NextCursor, recordings: z.array(Recording) }),
  responseHeaders: {
    Warning: {
      description:
        "Present if `include.hubspot` was ignored, if `before_datetime` or `after_datetime` was given and nothing was found, or if both together exclude every recording, as they do for programs that read them the other way. It says why, and how to change that.",
      example:
        '299 parley "before_datetime and after_datetime exclude every recording: before_datetime finds recordings that start after its value, after_datetime those that start at or before it. For filters that mean what their names say, use a token or app with datetime_filters=by-name"',
    },
  },
  errors: ["invalid_json", "invalid_input", "invalid_cursor", "body_too_large"],
});

export const getRecording = operation({
  id: "getRecording",
  tag: "Recordings",
  gate: "every_version",
  permission: "read",
  method: "POST",
  path: "/_/public-api/v2/recordings/:recording_id",
  summary: "Get Recording",
  description: "Returns a recording.",
  params: RecordingParams,
  body: z.object({ include: RecordingInclude.optional() }),
  response: Recording,
  responseHeaders: { Warning: ignoredIncludeWarning },
  errors: ["invalid_json", "invalid_input", "body_too_large", "not_found"],
});

const changeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found"] as const;

export const updateRecording = operation({
  id: "updateRecording",
  tag: "Recordings",
  gate: "every_version",
  permission: "write",
  method: "PATCH",
  path: "/_/public-api/v2/recordings/:recording_id",
  summary: "Update Recording",
  description: "Renames a recording.",
  params: RecordingParams,
  body: z.object({ title: RecordingTitle }),
  response: Success,
  errors: changeErrors,
});

export const addTag = operation({
  id: "addTag",
  tag: "Recordings",
  gate: "every_version",
  permission: "write",
  method: "PUT",
  path: "/_/public-api/v2/recordings/:recording_id/tags",
  summary: "Add Tag",
  description: "Adds a tag. Adding an existing tag has no effect.",
  params: RecordingParams,
  body: z.object({ tag: Tag }),
  response: Success,
  errors: changeErrors,
});

export const removeTag = operation({
  id: "removeTag",
  tag: "Recordings",
  gate: "every_version",
  permission: "write",
  method: "DELETE",
  path: "/_/public-api/v2/recordings/:recording_id/tags/:tag",
  summary: "Remove Tag",
  description: "Removes a tag. Removing a missing tag has no effect.",
  params: RecordingParams.extend({ tag: z.string() }),
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const shareToUser = operation({
  id: "shareToUser",
  tag: "Recordings",
  gate: "every_version",
  permission: "write",
  method: "PUT",
  path: "/_/public-api/v2/recordings/:recording_id/users",
  summary: "Share to User",
  description: "Shares the recording with a user of the workspace.",
  params: RecordingParams,
  body: z.object({ user_id: Uuid.meta({ description: "From List Users." }) }),
  response: Success,
  errors: changeErrors,
});

export const unshareFromUser = operation({
  id: "unshareFromUser",
  tag: "Recordings",
  gate: "every_version",
  permission: "write",
  method: "DELETE",
  path: "/_/public-api/v2/recordings/:recording_id/users/:user_id",
  summary: "Unshare from User",
  description:
    "Revokes a user's share. A user with other access, such as a participant, can still see the recording.",
  params: RecordingParams.extend({ user_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const shareToTeam = operation({
  id: "shareToTeam",
  tag: "Recordings",
  gate: "every_version",
  permission: "write",
  method: "PUT",
  path: "/_/public-api/v2/recordings/:recording_id/teams",
  summary: "Share to Team",
  description: "Shares the recording with a team of the workspace.",
  params: RecordingParams,
  body: z.object({ team_id: Uuid.meta({ description: "From List Teams." }) }),
  response: Success,
  errors: changeErrors,
});

export const unshareFromTeam = operation({
  id: "unshareFromTeam",
  tag: "Recordings",
  gate: "every_version",
  permission: "write",
  method: "DELETE",
  path: "/_/public-api/v2/recordings/:recording_id/teams/:team_id",
  summary: "Unshare from Team",
  description: "Revokes a team's share.",
  params: RecordingParams.extend({ team_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const downloadRecording = operation({
  id: "downloadRecording",
  tag: "Recordings",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/public-api/v2/recordings/:recording_id/download",
  summary: "Download Recording",
  description: "Redirects to the recording's file. Returns 404 for media type transcript.",
  params: RecordingParams,
  response: { redirect: "A short-lived URL of the file." },
  errors: ["not_found"],
});
