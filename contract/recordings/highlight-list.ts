import { z } from "zod";
import { CursorInput, Milliseconds, NextCursor, Timestamp } from "../common.ts";
import { operation } from "../operation.ts";
import { HighlightIncludeQuery } from "./highlight-operations.ts";
import { Highlight } from "./highlights.ts";
import { MediaType, TagFilter } from "./recordings.ts";

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
