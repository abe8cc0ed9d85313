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

/** How a point is proven: by words of the transcript, or by a note of the request that carries such words. */
const proofs = {
  transcript: {
    quote: z
      .string()
      .meta({ description: "The words of the transcript that say so, copied verbatim, from one line." }),
    line: z.number().meta({ description: "Number of the line that the quote begins in." }),
  },
  notes: { note: z.number().meta({ description: "Number of the note that says so." }) },
} as const;

/** What the data of a request is. */
export type DataKind = keyof typeof proofs;

/** What a model says proves a point. */
export type Cited = { readonly quote: string; readonly line: number } | { readonly note: number };

const heading = z.string().nullable().meta({
  description: "Heading that starts with this point; null: the one before stays, or there is none.",
});
const pointText = z
  .string()
  .meta({ description: "One point, in one or two sentences that can be understood alone." });

const points = {
  transcript: z.array(z.object({ heading, text: pointText, ...proofs.transcript })),
  notes: z.array(z.object({ heading, text: pointText, ...proofs.notes })),
};
export type AnsweredPoint = z.output<(typeof points)[DataKind]>[number];

const overview = {
  title: z.string().meta({ description: "What the meeting was about, in three to eight words." }),
  meeting_type: z
    .string()
    .nullable()
    .meta({ description: "One of the meeting types of the list, word for word; null when none fits." }),
};

/** For a meeting that fits into one request. */
export const WholeAnswer = z.object({
  summary: points.transcript,
  ...overview,
  action_items: z.array(AnsweredItem),
});

/** For a chunk of a longer meeting. */
export const PartAnswer = z.object({
  notes: z
    .array(
      z.object({
        text: z.string().meta({
          description: "What was said, decided, asked or answered, in a sentence, with who said it.",
        }),
        ...proofs.transcript,
      }),
    )
    .meta({ description: "What this part of the meeting holds, in its order." }),
  action_items: z.array(AnsweredItem),
});

/** For the whole of a longer meeting, from the notes of its chunks. */
export const OverviewAnswer = z.object({ summary: points.notes, ...overview });

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
export const CondensedAnswer = z.object({
  notes: z.array(z.object({ text: z.string().meta({ description: "A sentence." }), ...proofs.notes })),
});

const line = (description: string) => z.string().meta({ description });

const columns = z.array(line("Head of a column."));
const cells = z.array(line("A cell.")).meta({ description: "As many as there are columns." });
const checked = z.boolean().meta({ description: "Whether it is done." });
const [question, answer] = [line("A question."), line("Its answer.")];

/** For a section, by what it is written from and by kind. An empty list means that the meeting has nothing on the subject. */
export const sectionAnswers = {
  transcript: {
    text: z.object({ items: points.transcript }),
    bullets: z.object({ items: z.array(z.object({ text: pointText, ...proofs.transcript })) }),
    checklist: z.object({ items: z.array(z.object({ text: pointText, checked, ...proofs.transcript })) }),
    table: z.object({ columns, rows: z.array(z.object({ cells, ...proofs.transcript })) }),
    "question-answer": z.object({ items: z.array(z.object({ question, answer, ...proofs.transcript })) }),
  },
  notes: {
    text: z.object({ items: points.notes }),
    bullets: z.object({ items: z.array(z.object({ text: pointText, ...proofs.notes })) }),
    checklist: z.object({ items: z.array(z.object({ text: pointText, checked, ...proofs.notes })) }),
    table: z.object({ columns, rows: z.array(z.object({ cells, ...proofs.notes })) }),
    "question-answer": z.object({ items: z.array(z.object({ question, answer, ...proofs.notes })) }),
  },
} as const satisfies Record<DataKind, Record<z.output<typeof SectionKind>, z.ZodType>>;

export type SectionKindName = keyof (typeof sectionAnswers)["transcript"];

type Answer<K extends SectionKindName> = z.output<(typeof sectionAnswers)[DataKind][K]>;
type Entries<T> = [T] extends [readonly (infer Entry)[]] ? readonly Entry[] : T;

export type SectionAnswer<K extends SectionKindName = SectionKindName> = {
  readonly [Name in keyof Answer<K>]: Entries<Answer<K>[Name]>;
};
