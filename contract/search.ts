import { z } from "zod";
import { CursorInput, Milliseconds, NextCursor, Timestamp, TimestampInput, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
import { MediaType, Tag } from "./recordings.ts";

/** Longer than this, or with more words and phrases than this, a query is refused. */
export const maxQueryLength = 500;
export const maxQueryTerms = 24;

/** What of a text made it a hit: from a character, up to but without another, in UTF-16 units as JavaScript counts. */
const Mark = z.strictObject({ start: z.int().min(0), end: z.int().min(1) }).meta({ id: "SearchMark" });

export const SearchHit = z
  .strictObject({
    kind: z.enum(["title", "tag", "participant", "highlight", "transcript"]),
    snippet: z
      .strictObject({
        text: z
          .string()
          .meta({ description: "Plain text; never markup. Shortened texts begin or end with …" }),
        marks: z.array(Mark).meta({
          description:
            "What was found in it, in order and without overlap: `start` inclusive, `end` exclusive, in UTF-16 code units.",
        }),
      })
      .meta({ description: "The text around what was found." }),
    timestamp: Milliseconds.nullable().meta({
      description: "Where in the recording; null for title, tag and participant.",
    }),
    highlight_id: Uuid.nullable(),
    participant_id: Uuid.nullable().meta({ description: "Who was found, or who speaks." }),
    speaker: z.string().nullable().meta({ description: "Who speaks, as the transcript has it." }),
  })
  .meta({ id: "SearchHit" });

export const SearchResult = z
  .strictObject({
    recording: z.strictObject({
      id: Uuid,
      title: z.string(),
      start_datetime: Timestamp,
      end_datetime: Timestamp,
      duration_ms: Milliseconds,
      media_type: MediaType,
      url: z.string(),
    }),
    hits: z.array(SearchHit).meta({
      description:
        "Title, tags, participants and highlights first, then the best moments of the transcript in their order.",
    }),
  })
  .meta({ id: "SearchResult" });

export const search = operation({
  id: "search",
  tag: "Search",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/search",
  summary: "Search",
  description:
    'Finds recordings that the token can see by title, tags, participants, highlights and transcript, best first. Every word must occur; `"a phrase"` word for word, `word*` by its beginning, `-word` or `-"a phrase"` not at all. Case and accents don\'t count, and other forms of a word are found in the transcript\'s language. With `recording_id`, all hits in one recording in the order of time.',
  query: z.object({
    q: z
      .string()
      .max(maxQueryLength)
      .meta({
        description: `What to look for; at most ${maxQueryTerms} words and phrases.`,
        example: "budget",
      }),
    cursor: CursorInput.optional(),
    recording_id: Uuid.optional().meta({ description: "Only this recording, with all its hits." }),
    from: TimestampInput.optional().meta({
      description: "Only recordings that start at this time or later.",
    }),
    to: TimestampInput.optional().meta({ description: "Only recordings that start before this time." }),
    person: z
      .string()
      .max(320)
      .optional()
      .meta({ description: "Email or whole name of a participant or recorder, or the id of a user." }),
    team: Uuid.optional(),
    meeting_type: Uuid.optional(),
    tag: Tag.optional(),
    media_type: MediaType.optional(),
  }),
  response: z.strictObject({ results: z.array(SearchResult), cursor: NextCursor }),
  errors: ["invalid_input", "invalid_cursor"],
});
