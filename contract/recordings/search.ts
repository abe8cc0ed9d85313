import { z } from "zod";
import { CursorInput, Milliseconds, NextCursor, Timestamp, TimestampInput, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { MediaType, TagFilter } from "./recordings.ts";

/** Limits of a query: characters, and words and phrases. */
const maxQueryLength = 500;
export const maxQueryTerms = 24;

/** Results counted at most. */
export const maxCountedResults = 1000;

const SearchSort = z.enum(["relevance", "newest", "oldest"]);

/** A matched range of a text: start inclusive, end exclusive, in UTF-16 code units. */
const Mark = z.strictObject({ start: z.int().min(0), end: z.int().min(1) }).meta({ id: "SearchMark" });

export const SearchHit = z
  .strictObject({
    kind: z.enum(["title", "tag", "participant", "highlight", "transcript"]),
    snippet: z
      .strictObject({
        text: z.string().meta({ description: "Plain text, not markup. Shortened texts start or end with …" }),
        marks: z.array(Mark).meta({
          description:
            "Matched ranges in order, without overlap: `start` inclusive, `end` exclusive, in UTF-16 code units.",
        }),
      })
      .meta({ description: "The text around the match." }),
    timestamp: Milliseconds.nullable().meta({
      description: "Position in the recording; null for title, tag and participant.",
    }),
    highlight_id: Uuid.nullable(),
    participant_id: Uuid.nullable().meta({ description: "The matched participant, or the speaker." }),
    speaker: z.string().nullable().meta({ description: "Name of the speaker in the transcript." }),
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
      thumbnail_url: z.string().nullable(),
    }),
    hits: z.array(SearchHit).meta({
      description:
        "Title, tags, participants and highlights first, then the best transcript matches by time.",
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
    'Searches titles, tags, participants, highlights and transcripts of the recordings that the token can see, best match first. All words must occur. `"a phrase"` matches word for word, `word*` matches a prefix, `-word` and `-"a phrase"` exclude. Case and accents are ignored; words are stemmed in the transcript\'s language. With `recording_id`, returns all matches in one recording, by time.',
  query: z.object({
    q: z
      .string()
      .max(maxQueryLength)
      .meta({
        description: `The query; at most ${maxQueryTerms} words and phrases.`,
        example: "budget",
      }),
    cursor: CursorInput.optional(),
    sort: SearchSort.optional().meta({ description: "Default: `relevance`." }),
    recording_id: Uuid.optional().meta({ description: "Only this recording, with all its matches." }),
    from: TimestampInput.optional().meta({
      description: "Only recordings that start at this time or later.",
    }),
    to: TimestampInput.optional().meta({ description: "Only recordings that start before this time." }),
    person: z
      .string()
      .max(320)
      .optional()
      .meta({ description: "Email or full name of a participant or recorder, or a user id." }),
    team: Uuid.optional(),
    meeting_type: Uuid.optional(),
    tag: TagFilter.optional(),
    media_type: MediaType.optional(),
  }),
  response: z.strictObject({
    results: z.array(SearchResult),
    count: z
      .strictObject({ value: z.int().min(0), is_exact: z.boolean() })
      .nullable()
      .meta({
        description: `How many recordings match, counted up to ${maxCountedResults}; without \`is_exact\` there may be more. Phrases are counted in the recordings that were ranked for the page. null on later pages, and with \`recording_id\`.`,
      }),
    suggestion: z.string().nullable().meta({
      description:
        "Without results: the query with misspelled words replaced by words of recordings that the token can see, which has results; null without one, and when finding one takes too long.",
    }),
    cursor: NextCursor,
  }),
  errors: ["invalid_input", "invalid_cursor"],
});
