import { z } from "zod";
import { CursorInput, Milliseconds, NextCursor, Timestamp } from "./common.ts";
import { HighlightIncludeQuery } from "./highlight-operations.ts";
import { Highlight } from "./highlights.ts";
import { operation } from "./operation.ts";
import { MediaType, Tag } from "./recordings.ts";

/** A highlight with what a list over several recordings shows beside it. */
export const ListedHighlight = Highlight.extend({
  recording: z.strictObject({
    title: z.string(),
    media_type: MediaType,
    start_datetime: Timestamp,
    duration_ms: Milliseconds,
  }),
  can_change: z.boolean().meta({ description: "Whether the caller may change and delete it." }),
}).meta({ id: "ListedHighlight" });

export const listAllHighlights = operation({
  id: "listAllHighlights",
  tag: "Highlights",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/highlights",
  summary: "List All Highlights",
  description: "The highlights of every recording the caller may see, newest first, a page at a time.",
  query: z.object({
    cursor: CursorInput.optional(),
    text: z.string().max(500).optional().meta({
      description: "Only highlights whose text contains this, whatever its case and accents.",
    }),
    tag: Tag.optional().meta({ description: "Only highlights with this tag." }),
    include: HighlightIncludeQuery.optional(),
  }),
  response: z.strictObject({ highlights: z.array(ListedHighlight), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor"],
});
