import { z } from "zod";
import { CursorInput, Milliseconds, NextCursor, Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { Highlight, HighlightInclude } from "./highlights.ts";
import { MediaType, RecordingParams, Tag, TagFilter } from "./recordings.ts";

/** Maximum number of highlights per recording. */
export const maxHighlights = 1000;

export const HighlightParams = z.object({ highlight_id: Uuid });

const HighlightText = z
  .string()
  .trim()
  .min(1, "must not be blank")
  .max(500)
  .meta({ description: "Short description; acts as title." });

/** Tags of a highlight or story, under the rule of recording tags. The order is kept; duplicates are dropped. */
export const TagList = z.array(Tag).max(50);

const Start = Milliseconds.meta({ description: "Milliseconds at which the clip starts." });
const Duration = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .meta({ description: "Length in milliseconds; the clip must end within the recording." });

/** A highlight that comes with its recording. */
export const NewHighlight = z.object({
  text: HighlightText,
  timestamp: Start,
  duration: Duration,
  tags: TagList.optional(),
});

/** Include names in a query string. */
export const HighlightIncludeQuery = z
  .string()
  .regex(
    /^(transcript|speakers)(,(transcript|speakers))*$/,
    "must be transcript, speakers, or both separated by a comma",
  )
  .meta({ description: "`transcript`, `speakers`, or both separated by a comma.", example: "transcript" });

const changeErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found"] as const;

export const listHighlights = operation({
  id: "listHighlights",
  tag: "Highlights",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/recordings/:recording_id/highlights",
  summary: "List Highlights",
  description: "Lists a recording's highlights by start time, paginated.",
  params: RecordingParams,
  query: z.object({ cursor: CursorInput.optional(), include: HighlightIncludeQuery.optional() }),
  response: z.strictObject({ highlights: z.array(Highlight), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor", "not_found"],
});

export const createHighlight = operation({
  id: "createHighlight",
  tag: "Highlights",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/recordings/:recording_id/highlights",
  summary: "Create Highlight",
  description: `Creates a highlight of a recording. Allowed for everyone who can see the recording. A recording can have at most ${maxHighlights} highlights.`,
  params: RecordingParams,
  body: NewHighlight.extend({ include: HighlightInclude.optional() }),
  response: Highlight,
  errors: ["invalid_json", "invalid_input", "body_too_large", "not_found", "wrong_state"],
});

export const getHighlight = operation({
  id: "getHighlight",
  tag: "Highlights",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/highlights/:highlight_id",
  summary: "Get Highlight",
  description: "Returns a highlight. Allowed for everyone who can see the recording.",
  params: HighlightParams,
  query: z.object({ include: HighlightIncludeQuery.optional() }),
  response: Highlight,
  errors: ["invalid_input", "not_found"],
});

export const updateHighlight = operation({
  id: "updateHighlight",
  tag: "Highlights",
  gate: "every_version",
  permission: "write",
  method: "PATCH",
  path: "/_/api/v1/highlights/:highlight_id",
  summary: "Update Highlight",
  description:
    "Changes a highlight's text, tags or range. Fields that are left out keep their values. Allowed for its creator, the recording's recorders, admins and workspace tokens.",
  params: HighlightParams,
  body: z.object({
    text: HighlightText.optional(),
    timestamp: Start.optional(),
    duration: Duration.optional(),
    tags: TagList.optional(),
    include: HighlightInclude.optional(),
  }),
  response: Highlight,
  errors: changeErrors,
});

export const deleteHighlight = operation({
  id: "deleteHighlight",
  tag: "Highlights",
  gate: "every_version",
  permission: "write",
  method: "DELETE",
  path: "/_/api/v1/highlights/:highlight_id",
  summary: "Delete Highlight",
  description: "Deletes a highlight and removes it from its stories. Allowed for those who can edit it.",
  params: HighlightParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const requestClip = operation({
  id: "requestClip",
  tag: "Highlights",
  gate: "every_version",
  permission: "read",
  method: "POST",
  path: "/_/api/v1/highlights/:highlight_id/clip",
  summary: "Request Clip",
  description:
    "Renders the highlight as a file of its own and returns its URL once it is ready; repeat until then, every few seconds. The file is kept for an hour after the last request. A clip that failed is rendered again when it is requested more than a minute later. Five clips are prepared for a user at a time, and they count towards the workspace's storage.",
  params: HighlightParams,
  response: z.strictObject({
    state: z.enum(["preparing", "ready", "failed"]),
    url: z.string().nullable().meta({
      description:
        "A signed URL for the caller, when it is ready. It expires, and works while the caller can see the recording.",
    }),
    error: z.string().nullable().meta({ description: "Why it failed." }),
  }),
  errors: ["not_found", "wrong_state", "quota_exceeded"],
});

/** A highlight with its recording, for lists across recordings. */
export const ListedHighlight = Highlight.extend({
  recording: z.strictObject({
    title: z.string(),
    media_type: MediaType,
    start_datetime: Timestamp,
    duration_ms: Milliseconds,
  }),
  can_change: z.boolean().meta({ description: "Whether the caller may edit and delete it." }),
}).meta({ id: "ListedHighlight" });

export const listAllHighlights = operation({
  id: "listAllHighlights",
  tag: "Highlights",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/highlights",
  summary: "List All Highlights",
  description: "Lists the highlights of every recording the caller can see, newest first, paginated.",
  query: z.object({
    cursor: CursorInput.optional(),
    text: z.string().max(500).optional().meta({
      description: "Only highlights whose text contains this; case and accents are ignored.",
    }),
    tag: TagFilter.optional().meta({ description: "Only highlights with this tag." }),
    include: HighlightIncludeQuery.optional(),
  }),
  response: z.strictObject({ highlights: z.array(ListedHighlight), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor"],
});
