import { z } from "zod";
import { Milliseconds, Timestamp, Uuid } from "../common.ts";

/** A highlight, also called clip. Source: contract.md, "Highlight". */
export const Highlight = z
  .strictObject({
    id: Uuid,
    recording_id: Uuid,
    text: z.string().meta({ description: "Short description; acts as title." }),
    transcript: z
      .string()
      .optional()
      .meta({ description: "What is said in the clip; with include.transcript." }),
    speakers: z
      .array(z.string())
      .optional()
      .meta({ description: "Who speaks in the clip; with include.speakers." }),
    timestamp: Milliseconds.meta({ description: "Milliseconds at which the clip starts." }),
    duration: Milliseconds.meta({ description: "Length in milliseconds." }),
    tags: z.array(z.string()),
    url: z.string(),
    thumbnail_url: z.string(),
    created_datetime: Timestamp,
  })
  .meta({ id: "Highlight" });

export const HighlightInclude = z
  .object({ transcript: z.boolean().optional(), speakers: z.boolean().optional() })
  .meta({ id: "HighlightInclude" });
export type HighlightIncludeInput = z.output<typeof HighlightInclude>;
