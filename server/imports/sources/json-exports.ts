import { basename, extname } from "node:path";
import { z } from "zod";
import { formatOf } from "../../../contract/media-formats.ts";
import { readWrittenTime } from "../../../contract/written-time.ts";
import { RecordingError } from "../move/errors.ts";
import type { ImportSource, SourceItem } from "../move/source.ts";
import {
  fileSource,
  importedMeeting,
  type Meeting,
  mediaBeside,
  mediaTypeOf,
  readJson,
  withEnds,
} from "./disk.ts";
import { clockMs, readDuration } from "./duration.ts";

/*
 * Meetings that other services return as JSON, saved to files: each file has one meeting, a list of them, or a response of
 * the service's API. A media file of the same name, or named by the meeting's id, belongs to it.
 */

const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? "");
const Id = z.union([z.string(), z.number()]).transform(String);

/** Numbers that JSON files have as text, too. */
const Quantity = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => String(value ?? ""));

/** Later than any meeting in seconds since 1970, and earlier than any in milliseconds. */
const firstMs = 100_000_000_000;

/** A time in seconds or milliseconds since 1970, or as a text, in UTC if it states no zone. */
const When = z.union([z.string(), z.number()]).transform((value, context) => {
  const number = typeof value === "number" || /^\d{9,14}$/.test(value) ? Number(value) : null;
  if (number !== null) return new Date(number < firstMs ? number * 1000 : number);
  const read = readWrittenTime(String(value), { timeZone: "UTC" });
  if ("at" in read) return new Date(read.at);
  context.addIssue({ code: "custom", message: read.problem });
  return z.NEVER;
});

/** A list of which each element may be unreadable. */
function lenientList<T extends z.ZodType>(element: T) {
  return z
    .array(z.unknown())
    .nullish()
    .transform((list) => (list ?? []).map((one) => element.safeParse(one).data ?? null));
}

/** Counts what could not be read. */
function countUnreadable(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [[`unreadable_${name}`, count]])),
  );
}

/** A time from the start of the meeting in ms, from seconds or `1:02:03`; null: it can't be read. */
function offsetMs(text: string): number | null {
  if (/^-\d/.test(text)) return 0;
  return /^\d+(?:\.\d+)?(?:e-?\d{1,2})?$/i.test(text)
    ? Math.round(Number(text) * 1000)
    : readDuration(text, "seconds");
}

const FirefliesSentence = z.object({
  text: Text,
  raw_text: Text,
  speaker_name: Text,
  speaker_id: Quantity,
  start_time: Quantity,
  end_time: Quantity,
});

/** Source: https://docs.fireflies.ai/schema/transcript */
const Fireflies = z
  .object({
    id: Id,
    title: Text,
    date: When.nullish(),
    dateString: When.nullish(),
    duration: Quantity,
    host_email: Text,
    organizer_email: Text,
    transcript_url: Text,
    speakers: lenientList(z.object({ id: Quantity, name: Text })),
    meeting_attendees: z.array(z.object({ displayName: Text, name: Text, email: Text })).nullish(),
    sentences: lenientList(FirefliesSentence),
    summary: z.object({ overview: Text, action_items: Text }).nullish(),
  })
  .transform((one, context): Omit<Meeting, "media"> => {
    const start = one.date ?? one.dateString;
    if (start == null) {
      context.addIssue({ code: "custom", path: ["date"], message: "is missing" });
      return z.NEVER;
    }
    const durationMs = one.duration === "" ? 0 : readDuration(one.duration, "minutes");
    const names = new Map(one.speakers.flatMap((speaker) => (speaker ? [[speaker.id, speaker.name]] : [])));
    const sentences = one.sentences.flatMap((sentence) => sentence ?? []);
    let last = 0;
    let unreadableTimes = 0;
    const entries = sentences.map((sentence) => {
      const at = offsetMs(sentence.start_time);
      const end = offsetMs(sentence.end_time);
      unreadableTimes += Number(at === null) + Number(end === null);
      last = at ?? last;
      return {
        participant_id: null,
        speaker:
          sentence.speaker_name ||
          names.get(sentence.speaker_id) ||
          (sentence.speaker_id === "" ? "" : `Speaker ${sentence.speaker_id}`),
        start: last,
        end: Math.max(last, end ?? last),
        text: (sentence.text || sentence.raw_text).trim(),
      };
    });
    return {
      id: one.id,
      title: one.title,
      start,
      durationMs: durationMs ?? 0,
      people: (one.meeting_attendees ?? []).map(({ displayName, name, email }) => ({
        name: displayName || name || email,
        email: email || null,
      })),
      recorderEmail: one.host_email || one.organizer_email || null,
      entries: entries.filter(({ text }) => text !== ""),
      summary: one.summary?.overview ?? null,
      actionItems: (one.summary?.action_items ?? "")
        .split("\n")
        .map((line) => line.trim())
        // Items stand below the names of their owners, in bold.
        .filter((line) => line !== "" && !(line.startsWith("**") && line.endsWith("**")))
        .map((line) => line.replace(/^[-*] +/, ""))
        .map((text) => ({ text, timestamp: 0, isDone: false, assignee: null })),
      url: one.transcript_url || null,
      omitted: countUnreadable({
        duration: durationMs === null ? 1 : 0,
        sentences: one.sentences.length - sentences.length,
        times: unreadableTimes,
      }),
    };
  });

/** Source: https://developers.fathom.ai/api-reference/meetings/list-meetings */
const Fathom = z
  .object({
    recording_id: Id,
    title: Text,
    meeting_title: Text,
    url: Text,
    created_at: When,
    recording_start_time: When.nullish(),
    recording_end_time: When.nullish(),
    transcript_language: Text,
    calendar_invitees: z.array(z.object({ name: Text, email: Text })).nullish(),
    recorded_by: z.object({ name: Text, email: Text }).nullish(),
    transcript: lenientList(
      z.object({
        speaker: z.object({ display_name: Text, matched_calendar_invitee_email: Text }).nullish(),
        text: Text,
        timestamp: Text,
      }),
    ),
    default_summary: z.object({ markdown_formatted: Text }).nullish(),
    action_items: z
      .array(
        z.object({
          description: Text,
          completed: z.boolean().catch(false),
          recording_timestamp: Text,
          assignee: z.object({ name: Text, email: Text }).nullish(),
        }),
      )
      .nullish(),
  })
  .transform((one): Omit<Meeting, "media"> => {
    const start = one.recording_start_time ?? one.created_at;
    const durationMs = Math.max(0, (one.recording_end_time?.getTime() ?? 0) - start.getTime());
    const said = one.transcript.flatMap((entry) => entry ?? []);
    let last = 0;
    let unreadableTimes = 0;
    const spoken = said.map(({ speaker, text, timestamp }) => {
      const at = readDuration(timestamp, "seconds");
      unreadableTimes += Number(at === null);
      last = at ?? last;
      return {
        speaker: speaker?.display_name || speaker?.matched_calendar_invitee_email || "",
        start: last,
        text,
      };
    });
    return {
      id: one.recording_id,
      title: one.title || one.meeting_title,
      start,
      durationMs,
      people: [
        ...said.flatMap(({ speaker }) =>
          speaker?.matched_calendar_invitee_email
            ? [{ name: speaker.display_name, email: speaker.matched_calendar_invitee_email }]
            : [],
        ),
        ...(one.calendar_invitees ?? []).map(({ name, email }) => ({
          name: name || email,
          email: email || null,
        })),
      ],
      recorderEmail: one.recorded_by?.email || null,
      entries: withEnds(spoken, durationMs),
      language: one.transcript_language || null,
      summary: one.default_summary?.markdown_formatted ?? null,
      actionItems: (one.action_items ?? []).map(
        ({ description, completed, recording_timestamp, assignee }) => ({
          text: description,
          timestamp: clockMs(recording_timestamp),
          isDone: completed,
          assignee: assignee?.email || assignee?.name || null,
        }),
      ),
      url: one.url || null,
      omitted: countUnreadable({ sentences: one.transcript.length - said.length, times: unreadableTimes }),
    };
  });

/** The meetings in a file: a list, an API's response around one, or a single meeting. */
function unwrap(json: unknown): unknown[] {
  if (Array.isArray(json)) return json;
  if (typeof json !== "object" || json === null) return [];
  for (const name of ["data", "items", "meetings", "transcripts", "transcript"])
    if (name in json) {
      const inner = (json as Record<string, unknown>)[name];
      // A meeting of Fathom has a list `transcript` of its own.
      if (typeof inner === "object" && inner !== null && !(name === "transcript" && Array.isArray(inner)))
        return unwrap(inner);
    }
  return [json];
}

async function* listMeetings(
  files: readonly string[],
  used: Set<string>,
  schema: z.ZodType<Omit<Meeting, "media">>,
  idOf: (json: unknown) => string | undefined,
): AsyncGenerator<SourceItem> {
  const all = new Set(files);
  for (const file of files.filter((one) => extname(one).toLowerCase() === ".json")) {
    const json = await readJson(file).catch((error: Error) => error);
    const fail = (oldId: string, reason: string): SourceItem => ({
      oldId,
      mediaType: "transcript",
      load: async () => {
        throw new RecordingError(reason);
      },
    });
    if (json instanceof Error) {
      used.add(file);
      yield fail(basename(file), json.message);
      continue;
    }
    const meetings = unwrap(json);
    if (meetings.length > 0) used.add(file);
    for (const [index, raw] of meetings.entries()) {
      const parsed = schema.safeParse(raw);
      const id = idOf(raw) ?? `${basename(file)}#${index + 1}`;
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        yield fail(id, `${basename(file)}: ${issue?.path.join(".")} ${issue?.message}`);
        continue;
      }
      const named = files.find((one) => basename(one).startsWith(`${id}.`) && formatOf(one) !== null);
      const media = named ?? (meetings.length === 1 ? mediaBeside(all, file) : null);
      if (media !== null) used.add(media);
      const meeting = { ...parsed.data, media };
      yield { oldId: id, mediaType: mediaTypeOf(media), load: async () => importedMeeting(meeting) };
    }
  }
}

function source(
  kind: string,
  path: string,
  schema: z.ZodType<Omit<Meeting, "media">>,
  idName: string,
): Promise<ImportSource> {
  const WithId = z.object({ [idName]: Id });
  const idOf = (json: unknown) => WithId.safeParse(json).data?.[idName];
  return fileSource(kind, path, (files, used) => listMeetings(files, used, schema, idOf));
}

/** Transcripts of Fireflies, as its API returns them. */
export const fireflies = (path: string): Promise<ImportSource> => source("fireflies", path, Fireflies, "id");

/** Meetings of Fathom, as its API returns them. */
export const fathom = (path: string): Promise<ImportSource> => source("fathom", path, Fathom, "recording_id");
