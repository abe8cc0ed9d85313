import { z } from "zod";
import type { SectionKind } from "../../../../contract/recordings/intelligence.ts";

/**
 * The schemas of model responses. Every field is required and none has limits, because servers in strict mode refuse
 * optional fields and limits; results are cut afterwards.
 */

const AnsweredItem = z.object({
  text: z
    .string()
    .meta({ description: "What has to be done, in one sentence that can be understood alone." }),
  quote: z
    .string()
    .meta({ description: "The words of the transcript that say so, copied verbatim, from one line." }),
  line: z.number().meta({ description: "Number of the line that the quote begins in." }),
  assignee: z
    .string()
    .nullable()
    .meta({ description: "Key of the participant who is to do it, such as P2; null when nobody said who." }),
});
export type AnsweredItem = z.output<typeof AnsweredItem>;

const overview = {
  summary: z
    .string()
    .meta({ description: "Summary of the meeting in Markdown, without a heading for the whole." }),
  title: z.string().meta({ description: "What the meeting was about, in three to eight words." }),
  meeting_type: z
    .string()
    .nullable()
    .meta({ description: "One of the meeting types of the list, word for word; null when none fits." }),
};

/** For a meeting that fits into one request. */
export const WholeAnswer = z.object({ ...overview, action_items: z.array(AnsweredItem) });

/** For a chunk of a longer meeting. */
export const PartAnswer = z.object({
  notes: z.array(z.string()).meta({
    description:
      "What was said, decided, asked and answered in this part, a sentence each, with who said it.",
  }),
  action_items: z.array(AnsweredItem),
});

/** For the whole of a longer meeting, from the notes of its chunks. */
export const OverviewAnswer = z.object(overview);
export type OverviewAnswer = z.output<typeof OverviewAnswer>;

const AnsweredChapter = z.object({
  title: z.string().meta({ description: "What the chapter is about, in two to eight words." }),
  line: z.number().meta({ description: "Number of the line that the chapter begins in." }),
  quote: z
    .string()
    .meta({ description: "Words of the chapter that show its subject, copied verbatim, from one line." }),
});
export type AnsweredChapter = z.output<typeof AnsweredChapter>;

/** For the chapters of a chunk. */
export const ChaptersAnswer = z.object({ chapters: z.array(AnsweredChapter) });

/** For shortening notes. */
export const CondensedAnswer = z.object({ notes: z.array(z.string()) });

const line = (description: string) => z.string().meta({ description });

/** For a section, by kind. An empty list or text means that the meeting has nothing on the subject. */
export const sectionAnswers = {
  text: z.object({ text: z.string().meta({ description: "Markdown, without a heading for the whole." }) }),
  bullets: z.object({ items: z.array(line("One point.")) }),
  checklist: z.object({
    items: z.array(
      z.object({
        text: line("One point."),
        checked: z.boolean().meta({ description: "Whether it is done." }),
      }),
    ),
  }),
  table: z.object({
    columns: z.array(line("Head of a column.")),
    rows: z
      .array(z.array(line("A cell.")))
      .meta({ description: "Each with as many cells as there are columns." }),
  }),
  "question-answer": z.object({
    items: z.array(z.object({ question: line("A question."), answer: line("Its answer.") })),
  }),
} as const satisfies Record<z.output<typeof SectionKind>, z.ZodType>;

export type SectionKindName = keyof typeof sectionAnswers;

export type SectionAnswer<K extends SectionKindName = SectionKindName> = z.output<(typeof sectionAnswers)[K]>;
