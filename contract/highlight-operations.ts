import { z } from "zod";
import { CursorInput, Milliseconds, NextCursor, Success, Uuid } from "./common.ts";
import { Highlight, HighlightInclude } from "./highlights.ts";
import { operation } from "./operation.ts";
import { RecordingParams, Tag } from "./recordings.ts";

/** More highlights than this no recording holds. */
export const maxHighlights = 1000;

export const HighlightParams = z.object({ highlight_id: Uuid });

const HighlightText = z
  .string()
  .trim()
  .min(1, "must not be blank")
  .max(500)
  .meta({ description: "Short description; acts as title." });

/** Tags of a highlight or story: the rule of recording tags; the order is kept, and one that comes twice counts once. */
export const TagList = z.array(Tag).max(50);

const Start = Milliseconds.meta({ description: "Milliseconds at which the clip starts." });
const Duration = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .meta({ description: "Length in milliseconds; the clip must end within the recording." });

/** Include names in an address, separated by commas. */
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
  description: "The highlights of a recording in the order in which they start, a page at a time.",
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
  description: `Marks a part of a recording. Whoever sees the recording may. A recording has at most ${maxHighlights} highlights.`,
  params: RecordingParams,
  body: z.object({
    text: HighlightText,
    timestamp: Start,
    duration: Duration,
    tags: TagList.optional(),
    include: HighlightInclude.optional(),
  }),
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
  description: "One highlight. Whoever sees the recording sees its highlights.",
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
    "Changes text, tags or range; what is left out stays. Whoever made it, the recording's recorders, admins and workspace tokens may.",
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
  description: "Removes a highlight, also from the stories it is in. Who may change it may delete it.",
  params: HighlightParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
