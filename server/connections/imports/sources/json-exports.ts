import { basename, extname } from "node:path";
import { z } from "zod";
import { readWrittenTime } from "../../../../shared/times/written-time.ts";
import { maxMilliseconds } from "../../../../shared/transcripts/transcript-limits.ts";
import {
  fileSource,
  importedMeeting,
  indexMedia,
  type Meeting,
  mediaTypeOf,
  type Note,
  readJson,
  withEnds,
} from "./disk.ts";
import { clockMs, readDuration } from "./duration.ts";
import { RecordingError } from "./errors.ts";
import type { ImportSource, SourceItem } from "./source.ts";

/*
 * Meetings that other services return as JSON, saved to files: each file has one meeting, a list of them, or a response of
 * the service's API. A media file of the same name, or named by the meeting's id, belongs to it.
 */

const Text = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((text) => String(text ?? ""));
const Id = z.union([z.string(), z.number()]).transform(String);

/** Numbers that JSON files have as text, too. */
const Quantity = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => String(value ?? ""));

/** Later than any meeting in seconds since 1970, and earlier than any in milliseconds. */
const firstMs = 100_000_000_000;

/** The year 10000, beyond which times are not written. */
const endOfTimes = Date.UTC(10_000, 0);

/**
 * A time in seconds or milliseconds since 1970, or as a text, in UTC if it states no zone; null: none is stated. What can't
 * be read is a problem, because another field may have the time.
 */
const When = z
  .unknown()
  .optional()
  .transform((value): Date | { problem: string } | null => {
    if (value === undefined || value === null || value === "") return null;
    const isNumber = typeof value === "number" || /^\d{9,14}$/.test(String(value));
    if (!isNumber) {
      const read = readWrittenTime(typeof value === "string" ? value : "", { timeZone: "UTC" });
      return "at" in read ? new Date(read.at) : read;
    }
    const ms = Number(value) < firstMs ? Number(value) * 1000 : Number(value);
    return ms >= 0 && ms < endOfTimes ? new Date(ms) : { problem: "is not a date" };
  });
type When = z.output<typeof When>;

/** The first of several times that can be read. */
function firstTime(context: z.RefinementCtx, times: Readonly<Record<string, When>>): Date | null {
  const found = Object.values(times).find((time) => time instanceof Date);
  if (found instanceof Date) return found;
  const [name = "", time] =
    Object.entries(times).find(([, one]) => one !== null) ?? Object.entries(times)[0] ?? [];
  const message = time == null || time instanceof Date ? "is missing" : time.problem;
  context.addIssue({ code: "custom", path: [name], message });
  return null;
}

/** How many of these times can't be read. */
function countUnread(...times: readonly When[]): number {
  return times.filter((time) => time !== null && !(time instanceof Date)).length;
}

/** A list of which each element may be unreadable. */
function lenientList<T extends z.ZodType>(element: T) {
  return z
    .unknown()
    .optional()
    .transform((list) =>
      (Array.isArray(list) ? list : list === undefined || list === null ? [] : [null]).map(
        (one): z.output<T> | null => element.safeParse(one).data ?? null,
      ),
    );
}

/** Those of a list that could be read. */
function readable<T>(list: readonly (T | null)[]): T[] {
  return list.filter((one) => one !== null);
}

/** Something of second rank, which may be unreadable: null. */
function optional<T extends z.ZodType>(type: T) {
  return z
    .unknown()
    .optional()
    .transform((value): z.output<T> | "unreadable" | null => {
      if (value === undefined || value === null) return null;
      const parsed = type.safeParse(value);
      return parsed.success ? parsed.data : "unreadable";
    });
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
  if (!/^\d+(?:\.\d+)?(?:e-?\d{1,2})?$/i.test(text)) return readDuration(text, "seconds");
  const ms = Math.round(Number(text) * 1000);
  return ms <= maxMilliseconds ? ms : null;
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
    date: When,
    dateString: When,
    duration: Quantity,
    host_email: Text,
    organizer_email: Text,
    transcript_url: Text,
    speakers: lenientList(z.object({ id: Quantity, name: Text })),
    meeting_attendees: lenientList(z.object({ displayName: Text, name: Text, email: Text })),
    sentences: lenientList(FirefliesSentence),
    summary: optional(
      z.union([
        z.string().transform((overview) => ({ overview, action_items: "" })),
        z.object({
          overview: Text,
          action_items: z.union([z.array(z.string()).transform((items) => items.join("\n")), Text]),
        }),
      ]),
    ),
  })
  .transform((one, context): Omit<Meeting, "media"> => {
    const start = firstTime(context, { date: one.date, dateString: one.dateString });
    if (start === null) return z.NEVER;
    const summary = one.summary === "unreadable" ? null : one.summary;
    const attendees = readable(one.meeting_attendees);
    const durationMs = one.duration === "" ? 0 : readDuration(one.duration, "minutes");
    const names = new Map(one.speakers.flatMap((speaker) => (speaker ? [[speaker.id, speaker.name]] : [])));
    const sentences = readable(one.sentences);
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
      people: attendees.map(({ displayName, name, email }) => ({
        name: displayName || name || email,
        email: email || null,
      })),
      recorderEmail: one.host_email || one.organizer_email || null,
      entries: entries.filter(({ text }) => text !== ""),
      summary: summary?.overview ?? null,
      actionItems: (summary?.action_items ?? "")
        .split("\n")
        .map((line) => line.trim())
        // Items stand below the names of their owners, in bold.
        .filter((line) => line !== "" && !(line.startsWith("**") && line.endsWith("**")))
        .map((line) => line.replace(/^[-*] +/, ""))
        .map((text) => ({ text, timestamp: 0, isDone: false, assignee: null })),
      url: one.transcript_url || null,
      omitted: countUnreadable({
        duration: durationMs === null ? 1 : 0,
        participants: one.meeting_attendees.length - attendees.length,
        sentences: one.sentences.length - sentences.length,
        summaries: one.summary === "unreadable" ? 1 : 0,
        times: unreadableTimes + countUnread(one.date, one.dateString),
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
    recording_start_time: When,
    recording_end_time: When,
    transcript_language: Text,
    calendar_invitees: lenientList(z.object({ name: Text, email: Text })),
    recorded_by: optional(z.object({ name: Text, email: Text })),
    transcript: lenientList(
      z.object({
        speaker: z.object({ display_name: Text, matched_calendar_invitee_email: Text }).nullish(),
        text: Text,
        timestamp: Text,
      }),
    ),
    default_summary: optional(z.object({ markdown_formatted: Text })),
    action_items: lenientList(
      z.object({
        description: Text,
        completed: z.boolean().catch(false),
        recording_timestamp: Text,
        assignee: optional(z.object({ name: Text, email: Text })),
      }),
    ),
  })
  .transform((one, context): Omit<Meeting, "media"> => {
    const start = firstTime(context, {
      recording_start_time: one.recording_start_time,
      created_at: one.created_at,
    });
    if (start === null) return z.NEVER;
    const end = one.recording_end_time instanceof Date ? one.recording_end_time.getTime() : 0;
    const stated = end - start.getTime();
    const durationMs = stated > 0 && stated <= maxMilliseconds ? stated : 0;
    const said = readable(one.transcript);
    const invitees = readable(one.calendar_invitees);
    const items = readable(one.action_items);
    const summary = one.default_summary === "unreadable" ? null : one.default_summary;
    const recorder = one.recorded_by === "unreadable" ? null : one.recorded_by;
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
        ...invitees.map(({ name, email }) => ({
          name: name || email,
          email: email || null,
        })),
      ],
      recorderEmail: recorder?.email || null,
      entries: withEnds(spoken, durationMs),
      language: one.transcript_language || null,
      summary: summary?.markdown_formatted ?? null,
      actionItems: items.map(({ description, completed, recording_timestamp, assignee }) => ({
        text: description,
        timestamp: clockMs(recording_timestamp),
        isDone: completed,
        assignee: assignee === "unreadable" ? null : assignee?.email || assignee?.name || null,
      })),
      url: one.url || null,
      omitted: countUnreadable({
        action_items: one.action_items.length - items.length,
        participants: one.calendar_invitees.length - invitees.length,
        recorders: one.recorded_by === "unreadable" ? 1 : 0,
        sentences: one.transcript.length - said.length,
        summaries: one.default_summary === "unreadable" ? 1 : 0,
        times:
          unreadableTimes + countUnread(one.created_at, one.recording_start_time, one.recording_end_time),
      }),
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
  note: Note,
): AsyncGenerator<SourceItem> {
  const allMedia = await indexMedia(files);
  for (const file of files.filter((one) => extname(one).toLowerCase() === ".json")) {
    const json = await readJson(file, note).catch((error: Error) => error);
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
      const media = allMedia.named(id) ?? (meetings.length === 1 ? allMedia.beside(file) : null);
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
  return fileSource(kind, path, (files, used, note) => listMeetings(files, used, schema, idOf, note));
}

/** Transcripts of Fireflies, as its API returns them. */
export const fireflies = (path: string): Promise<ImportSource> => source("fireflies", path, Fireflies, "id");

/** Meetings of Fathom, as its API returns them. */
export const fathom = (path: string): Promise<ImportSource> => source("fathom", path, Fathom, "recording_id");
