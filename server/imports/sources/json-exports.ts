import { basename, extname } from "node:path";
import { z } from "zod";
import { RecordingError } from "../move/errors.ts";
import type { ImportSource, SourceItem } from "../move/source.ts";
import {
  clockMs,
  listFiles,
  type Meeting,
  mediaBeside,
  mediaTypeOf,
  originOf,
  readJson,
  recordingOf,
  withEnds,
} from "./disk.ts";

/*
 * Meetings that other services return as JSON, saved to files: each file has one meeting, a list of them, or a response of
 * the service's API. A media file of the same name, or named by the meeting's id, belongs to it.
 */

const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? "");
const Seconds = z.coerce
  .number()
  .catch(0)
  .transform((seconds) => Math.max(0, Math.round(seconds * 1000)));
const When = z
  .union([z.string(), z.number()])
  .transform((value) => new Date(typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value))
  .refine((date) => !Number.isNaN(date.getTime()), "is not a date");

/** Source: https://docs.fireflies.ai/schema/transcript */
const Fireflies = z
  .object({
    id: z.string(),
    title: Text,
    date: When,
    duration: z.number().nullish(),
    host_email: Text,
    organizer_email: Text,
    transcript_url: Text,
    meeting_attendees: z.array(z.object({ displayName: Text, name: Text, email: Text })).nullish(),
    sentences: z
      .array(
        z.object({ text: Text, raw_text: Text, speaker_name: Text, start_time: Seconds, end_time: Seconds }),
      )
      .nullish(),
    summary: z.object({ overview: Text, action_items: Text }).nullish(),
  })
  .transform(
    (one): Omit<Meeting, "media"> => ({
      id: one.id,
      title: one.title,
      start: one.date,
      durationMs: Math.round((one.duration ?? 0) * 60_000),
      people: (one.meeting_attendees ?? []).map(({ displayName, name, email }) => ({
        name: displayName || name || email,
        email: email || null,
      })),
      recorderEmail: one.host_email || one.organizer_email || null,
      entries: (one.sentences ?? []).map((sentence) => ({
        participant_id: null,
        speaker: sentence.speaker_name || "Unknown Speaker",
        start: sentence.start_time,
        end: Math.max(sentence.start_time, sentence.end_time),
        text: sentence.text || sentence.raw_text,
      })),
      summary: one.summary?.overview ?? null,
      actionItems: (one.summary?.action_items ?? "")
        .split("\n")
        .map((line) => line.trim())
        // Items stand below the names of their owners, in bold.
        .filter((line) => line !== "" && !(line.startsWith("**") && line.endsWith("**")))
        .map((line) => line.replace(/^[-*] +/, ""))
        .map((text) => ({ text, timestamp: 0, isDone: false, assignee: null })),
      url: one.transcript_url || null,
    }),
  );

/** Source: https://developers.fathom.ai/api-reference/meetings/list-meetings */
const Fathom = z
  .object({
    recording_id: z.union([z.number(), z.string()]).transform(String),
    title: Text,
    meeting_title: Text,
    url: Text,
    created_at: When,
    recording_start_time: When.nullish(),
    recording_end_time: When.nullish(),
    transcript_language: Text,
    calendar_invitees: z.array(z.object({ name: Text, email: Text })).nullish(),
    recorded_by: z.object({ name: Text, email: Text }).nullish(),
    transcript: z
      .array(
        z.object({
          speaker: z.object({ display_name: Text, matched_calendar_invitee_email: Text }).nullish(),
          text: Text,
          timestamp: Text,
        }),
      )
      .nullish(),
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
    const spoken = (one.transcript ?? []).map(({ speaker, text, timestamp }) => ({
      speaker: speaker?.display_name || speaker?.matched_calendar_invitee_email || "Unknown Speaker",
      start: clockMs(timestamp),
      text,
    }));
    return {
      id: one.recording_id,
      title: one.title || one.meeting_title,
      start,
      durationMs,
      people: [
        ...(one.transcript ?? []).flatMap(({ speaker }) =>
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
  path: string,
  schema: z.ZodType<Omit<Meeting, "media">>,
  idOf: (json: unknown) => string | undefined,
): AsyncGenerator<SourceItem> {
  const files = await listFiles(path);
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
      yield fail(basename(file), json.message);
      continue;
    }
    const meetings = unwrap(json);
    for (const [index, raw] of meetings.entries()) {
      const parsed = schema.safeParse(raw);
      const id = idOf(raw) ?? `${basename(file)}#${index + 1}`;
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        yield fail(id, `${basename(file)}: ${issue?.path.join(".")} ${issue?.message}`);
        continue;
      }
      const named = files.find(
        (one) =>
          basename(one).startsWith(`${id}.`) && mediaTypeOf(one) !== "transcript" && extname(one) !== ".json",
      );
      const media = named ?? (meetings.length === 1 ? mediaBeside(all, file) : null);
      const meeting = { ...parsed.data, media: media ?? null };
      yield { oldId: id, mediaType: mediaTypeOf(meeting.media), load: async () => recordingOf(meeting) };
    }
  }
}

async function source(
  kind: string,
  path: string,
  schema: z.ZodType<Omit<Meeting, "media">>,
  idOf: (json: unknown) => string | undefined,
): Promise<ImportSource> {
  return {
    kind,
    origin: await originOf(path),
    emails: async () => null,
    list: () => listMeetings(path, schema, idOf),
  };
}

/** Transcripts of Fireflies, as its API returns them. */
export const fireflies = (path: string): Promise<ImportSource> =>
  source("fireflies", path, Fireflies, (json) => z.object({ id: z.string() }).safeParse(json).data?.id);

/** Meetings of Fathom, as its API returns them. */
export const fathom = (path: string): Promise<ImportSource> =>
  source("fathom", path, Fathom, (json) => {
    const id = z.object({ recording_id: z.union([z.number(), z.string()]) }).safeParse(json)
      .data?.recording_id;
    return id === undefined ? undefined : String(id);
  });
