import { z } from "zod";
import { Milliseconds, Timestamp } from "../common.ts";
import { operation } from "../operation.ts";
import { RecordingParams } from "../recordings/recordings.ts";
import { TimeZone } from "../time-zone.ts";
import { documentParts, readDocumentParts } from "./document-parts.ts";

const Parts = z
  .string()
  .max(200)
  .refine(
    (text) => text.split(",").every((name) => documentParts.some((part) => part === name)),
    `must be some of ${documentParts.join(", ")}, with commas`,
  )
  .transform(readDocumentParts)
  .optional()
  .meta({ description: `Separated by commas: ${documentParts.join(", ")}. Default: all.` });

const Moment = z.strictObject({
  text: z.string(),
  timestamp: Milliseconds.meta({ description: "Milliseconds from the start of the recording." }),
});

const Section = z.strictObject({ title: z.string(), markdown: z.string() });

export const RecordingDocument = z
  .strictObject({
    title: z.string(),
    url: z.string().meta({ description: "The recording's page; `?t=` and seconds leads to a moment." }),
    start_datetime: Timestamp,
    duration_ms: Milliseconds,
    language: z.string().nullable().meta({ description: "The language of the transcript." }),
    people: z.array(z.string()),
    tags: z.array(z.string()),
    meeting_type: z.string().nullable(),
    summary: z
      .strictObject({
        markdown: z.string().meta({ description: "Empty: only the sections exist." }),
        sections: z.array(Section),
      })
      .nullable(),
    action_items: z.array(
      Moment.extend({
        assignee: z.string().nullable(),
        due_date: z.iso.date().nullable(),
        is_done: z.boolean(),
      }),
    ),
    chapters: z.array(Moment),
    highlights: z.array(Moment),
    transcript: z
      .array(z.strictObject({ speaker: z.string(), timestamp: Milliseconds, text: z.string() }))
      .meta({ description: "What one speaker said in a row is one entry." }),
    missing: z
      .array(z.enum(documentParts))
      .meta({ description: "Parts that were asked for and that the recording doesn't have." }),
  })
  .meta({ id: "RecordingDocument" });
export type RecordingDocument = z.output<typeof RecordingDocument>;

export const getDocument = operation({
  id: "getDocument",
  tag: "Recording data",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/recordings/:recording_id/document",
  summary: "Get Document",
  description:
    "Returns a recording as a document to print: title, people and the parts asked for. Parts that were not asked for are empty.",
  params: RecordingParams,
  query: z.object({ parts: Parts }),
  response: RecordingDocument,
  errors: ["invalid_input", "not_found"],
});

export const wordContentType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

export const getWordDocument = operation({
  id: "getWordDocument",
  tag: "Recording data",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/recordings/:recording_id/document.docx",
  summary: "Get Word Document",
  description:
    "Returns the same document as a file for Word (Office Open XML). A few are written at a time; with too many waiting, 503 says when to retry.",
  params: RecordingParams,
  query: z.object({
    parts: Parts,
    time_zone: TimeZone.optional().meta({ description: "Of the date below the title. Default: UTC." }),
  }),
  response: { contentType: wordContentType, description: "A .docx file." },
  errors: ["invalid_input", "not_found"],
});
