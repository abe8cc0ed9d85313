import { z } from "zod";
import { Milliseconds, Timestamp } from "../common.ts";
import { MeetingTypeScope } from "../workspace/directory.ts";
import { storedShape } from "./fields.ts";
import { MediaType } from "./recordings.ts";

/*
 * A recording outside of a server: `metadata.json` of an exported folder, and what every source of an import is turned
 * into. Its JSON Schema is published as docs/recording.schema.json.
 */

/** Enough for the metadata of any recording, and a bound for files from elsewhere. */
const Text = z.string().max(5_000_000);
const Name = z.string().max(5000);
const Id = z.string().min(1).max(500);

const Participant = z
  .object({
    id: Id.meta({ description: "Referred to by the transcript, action items and screenshares." }),
    name: Name,
    email: Name.nullable(),
    phone: Name.nullable(),
    scope: z.enum(["internal", "external", "unknown"]),
    confirmed_attendee: z.boolean(),
    attended: z.boolean(),
    is_invited: z
      .boolean()
      .default(false)
      .meta({ description: "Only invited, by a calendar; gets no access by it." }),
    crm_contact_id: Name.nullable(),
    observed_join_time: Timestamp.nullable(),
    observed_leave_time: Timestamp.nullable(),
  })
  .meta({ id: "PortableParticipant" });

const Highlight = z
  .object({
    id: Id,
    text: Name,
    timestamp: Milliseconds,
    duration: Milliseconds,
    tags: z.array(Name).max(1000),
    created_datetime: Timestamp,
    created_by_email: Name.nullable(),
  })
  .meta({ id: "PortableHighlight" });

const ActionItem = z
  .object({
    status: z.enum(["pending", "completed"]),
    timestamp: Milliseconds,
    text: Text,
    quote: Text.default("").meta({ description: "The words of the transcript that prove it; empty: none." }),
    due_date: z.iso.date().nullable().default(null).meta({ description: "The date that the quote names." }),
    participant_id: Id.nullable().meta({ description: "The assignee." }),
  })
  .meta({ id: "PortableActionItem" });

const Point = z
  .object({ heading: Name.nullable(), text: Text, quote: Text, start: Milliseconds })
  .meta({ id: "PortablePoint", description: "What a language model wrote, with the words that prove it." });

const Section = z
  .object({
    title: Name,
    data: z.record(z.string(), z.unknown()),
    markdown: Text,
    text: Text,
    points: z
      .array(Point)
      .max(1000)
      .optional()
      .meta({ description: "Its points, items or rows in their order, with their proofs." }),
  })
  .meta({ id: "PortableSection", description: "A section of an AI template in its three formats." });

export const PortableRecording = z
  .object({
    format: z.literal("parley-recording"),
    version: z.literal(1),
    id: Id,
    url: Name.nullable().meta({ description: "Where the recording was when it was exported." }),
    title: Name,
    start_datetime: Timestamp,
    end_datetime: Timestamp,
    duration_ms: Milliseconds,
    media_type: MediaType,
    ...storedShape,
    teams: z.array(z.object({ name: Name })).max(1000),
    recorders: z.array(z.object({ name: Name, email: Name })).max(1000),
    shared_users: z
      .array(z.object({ name: Name, email: Name }))
      .max(10_000)
      .meta({ description: "Users it is shared with individually." }),
    meeting_type: z.object({ name: Name, scope: MeetingTypeScope }).nullable(),
    meeting_type_is_automatic: z.boolean(),
    participants: z.array(Participant).max(5000),
    highlights: z.array(Highlight).max(10_000),
    ai_summary: Text.nullable().meta({ description: "Markdown." }),
    ai_summary_points: z.array(Point).max(1000).nullable().default(null).meta({
      description: "The points that the summary is a list of, with their proofs; null: it is no such list.",
    }),
    ai_action_items: z.array(ActionItem).max(10_000),
    ai_template_sections: z.array(Section).max(1000),
    ai_chapters: z
      .array(z.object({ title: Name, start: Milliseconds, quote: Text }))
      .max(1000)
      .default([]),
    chapters_by_hand: z.boolean().default(false).meta({ description: "Whether a user wrote the chapters." }),
    screenshares: z
      .array(z.object({ start: Milliseconds, end: Milliseconds, participant_id: Id }))
      .max(10_000),
    private_notes: z
      .array(z.object({ email: Name, text: Text }))
      .max(10_000)
      .meta({
        description: "Markdown, with the email of the user who wrote it.",
      }),
    summary_feedback: z
      .array(
        z.object({
          email: Name,
          rating: z.enum(["up", "down"]),
          comment: Text,
          model: Name,
          prompt_version: z.int(),
        }),
      )
      .max(10_000)
      .default([])
      .meta({
        description:
          "Thumbs up and down on summaries, with the email of the user and the model of the summary.",
      }),
    comments: z
      .array(
        z.object({
          id: Id,
          parent_id: Id.nullable().meta({ description: "The first comment of the thread." }),
          author_email: Name.nullable().meta({
            description: "null: the comment was deleted and has replies.",
          }),
          text: Text.meta({ description: "Markdown of links and emphasis." }),
          timestamp: Milliseconds.nullable(),
          mentioned_emails: z.array(Name).max(1000),
          reactions: z.array(z.object({ emoji: Name, email: Name })).max(10_000),
          created_datetime: Timestamp,
          edited_datetime: Timestamp.nullable(),
          resolved_datetime: Timestamp.nullable(),
          resolved_by_email: Name.nullable(),
        }),
      )
      .max(10_000)
      .default([]),
    transcript_language: Name.nullable().meta({ description: "null: there is no transcript." }),
    files: z
      .array(z.object({ name: Name, bytes: z.int().min(0), sha256: z.string().length(64) }))
      .max(100)
      .meta({ description: "All other files of the folder." }),
  })
  .meta({ id: "PortableRecording", title: "A recording in an export of Parley" });
export type PortableRecording = z.output<typeof PortableRecording>;

/** `export.json` at the top of an export. */
export const PortableExport = z
  .object({
    format: z.literal("parley-export"),
    version: z.literal(1),
    workspace: z.object({ id: Id, name: Name }),
    recordings: z.array(Id).meta({ description: "Their ids, which name their folders." }),
  })
  .meta({ id: "PortableExport" });
export type PortableExport = z.output<typeof PortableExport>;

/** A transcript entry as in Transcript JSON; `word_times` as in word-times.json. */
export const PortableEntry = z.object({
  participant_id: Id.nullable(),
  speaker: Name,
  start: Milliseconds,
  end: Milliseconds,
  text: Text,
});
export type PortableEntry = z.output<typeof PortableEntry> & {
  /** Start and end of each word in ms from the entry's start; null where it is not known. */
  readonly word_times?: readonly (number | null)[] | null;
};
