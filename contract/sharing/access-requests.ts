import { z } from "zod";
import { Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { RecordingParams } from "../recordings/recordings.ts";
import { User } from "../workspace/directory.ts";

/** How many requests List Access Requests returns. */
export const maxListedRequests = 100;

const base = { tag: "Recording data", gate: "every_version" } as const;
const path = "/_/api/v1/recordings/:recording_id/access-requests";
const RequestParams = RecordingParams.extend({ user_id: Uuid });

export const requestAccess = operation({
  ...base,
  id: "requestAccess",
  permission: "account",
  method: "POST",
  path,
  summary: "Request Access",
  description:
    "Asks the recorders of a recording of the workspace to share it with the caller. They get an email, and the request is shown in the Share dialog for 30 days. The response is the same whether or not the recording exists, so it doesn't reveal that; requests that can't be granted are ignored.",
  params: RecordingParams,
  response: Success,
  errors: ["forbidden", "rate_limited"],
});

export const listAccessRequests = operation({
  ...base,
  id: "listAccessRequests",
  permission: "read",
  method: "GET",
  path,
  summary: "List Access Requests",
  description: `Lists the users who request access to a recording, newest first: at most ${maxListedRequests}. Allowed for its recorders, admins and workspace tokens.`,
  params: RecordingParams,
  response: z.strictObject({
    requests: z.array(z.strictObject({ user: User, requested_datetime: Timestamp })),
  }),
  errors: ["forbidden", "not_found"],
});

export const grantAccess = operation({
  ...base,
  id: "grantAccess",
  permission: "write",
  method: "POST",
  path: `${path}/:user_id`,
  summary: "Grant Access",
  description:
    "Shares the recording with a user who requested access, and notifies them by email. Allowed for its recorders, admins and workspace tokens.",
  params: RequestParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const declineAccess = operation({
  ...base,
  id: "declineAccess",
  permission: "write",
  method: "DELETE",
  path: `${path}/:user_id`,
  summary: "Decline Access",
  description:
    "Declines a user's request for access. The user is not notified, and can't request it again for 30 days. Allowed for the recording's recorders, admins and workspace tokens.",
  params: RequestParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
