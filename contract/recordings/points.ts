import { z } from "zod";
import { Milliseconds } from "../common.ts";

/** A point of a summary or section, with the words that prove it. */
export const Point = z
  .strictObject({
    heading: z.string().nullable().meta({ description: "The heading it stands under; null: none." }),
    text: z.string().meta({ description: "Markdown of one line." }),
    quote: z.string().meta({ description: "The words of the transcript that prove it." }),
    start: Milliseconds.meta({ description: "Milliseconds at which the quoted words start to be spoken." }),
  })
  .meta({ id: "Point" });
export type Point = z.output<typeof Point>;
