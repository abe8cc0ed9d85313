import { defaultTemplate, fillTemplate, type Placeholder } from "../../../contract/deliveries/template.ts";
import type { Database } from "../../platform/db/database.ts";
import { clock } from "../../recordings/recordings/transcript/format.ts";
import { escapeMarkdown } from "../exports/markdown.ts";
import { type ExportSubject, type RecordingParts, readParts } from "../exports/read.ts";

/** What is sent of a recording, before a service's format. */
export interface Message {
  readonly title: string;
  readonly url: string;
  /** When the recording began, with milliseconds and Z. */
  readonly start: string;
  /** Markdown; `dateMark` stands for the date, which services write in the reader's time zone. */
  readonly text: string;
}

/** A private-use character: no font has it, and `plain` removes it from what users wrote. */
export const dateMark = "\uE000";

function plain(text: string): string {
  return text.replaceAll(dateMark, "");
}

const maxTitle = 200;

/** Reads a recording to send it; not from the replica, which may not have the summary yet. */
export async function readContent(
  { pool }: Pick<Database, "pool">,
  baseUrl: string,
  subject: ExportSubject,
): Promise<RecordingParts | undefined> {
  return readParts({ pool, replica: null }, baseUrl, subject);
}

/** What a message needs of a recording. */
type Content = Pick<
  RecordingParts["recording"],
  | "id"
  | "url"
  | "title"
  | "start_datetime"
  | "duration_ms"
  | "participants"
  | "tags"
  | "meeting_type"
  | "ai_summary"
  | "ai_action_items"
  | "ai_chapters"
  | "highlights"
>;

export function composeMessage(recording: Content, baseUrl: string, template: string | null): Message {
  const url = recording.url ?? `${baseUrl}/recordings/${recording.id}`;
  const names = new Map(recording.participants.map(({ id, name }) => [id, name]));
  const at = (ms: number): string => `[${timeOf(ms)}](${url}?t=${Math.round(ms) / 1000})`;
  const lines = (list: readonly string[]): string => list.map((line) => `- ${line}`).join("\n");
  const written = (text: string): string => escapeMarkdown(plain(text));
  const values: Record<Placeholder, string> = {
    title: written(recording.title),
    url,
    date: dateMark,
    duration: timeOf(recording.duration_ms),
    people: recording.participants.map(({ name }) => written(name)).join(", "),
    tags: recording.tags.map(written).join(", "),
    meeting_type: written(recording.meeting_type?.name ?? ""),
    summary: plain(recording.ai_summary?.trim() ?? ""),
    action_items: recording.ai_action_items
      .map(({ status, text, timestamp, participant_id: id }) => {
        const assignee = id === null ? undefined : names.get(id);
        const who = assignee === undefined ? "" : ` — **${written(assignee)}**`;
        return `- [${status === "completed" ? "x" : " "}] ${written(text)}${who} ${at(timestamp)}`;
      })
      .join("\n"),
    chapters: lines(recording.ai_chapters.map(({ title, start }) => `${at(start)} ${written(title)}`)),
    highlights: lines(recording.highlights.map(({ text, timestamp }) => `${at(timestamp)} ${written(text)}`)),
  };
  const title = plain(recording.title).replace(/\s+/g, " ").trim();
  return {
    title: [...title].length > maxTitle ? `${[...title].slice(0, maxTitle - 1).join("")}…` : title,
    url,
    start: recording.start_datetime,
    text: fillTemplate(template ?? defaultTemplate, values),
  };
}

/** A message to test a delivery with: every part that a recording may have. */
export function sampleMessage(baseUrl: string, template: string | null): Message {
  const participant = {
    email: null,
    phone: null,
    scope: "internal",
    confirmed_attendee: true,
    attended: true,
  } as const;
  const times = { crm_contact_id: null, observed_join_time: null, observed_leave_time: null };
  return composeMessage(
    {
      id: "",
      url: baseUrl,
      title: "Test message from Parley",
      start_datetime: new Date().toISOString(),
      duration_ms: 1_800_000,
      participants: [
        { ...participant, ...times, id: "1", name: "Ada" },
        { ...participant, ...times, id: "2", name: "Grace" },
      ],
      tags: ["test"],
      meeting_type: null,
      ai_summary: "This is a test. Summaries of recordings will look like this.",
      ai_action_items: [
        {
          status: "pending",
          timestamp: 60_000,
          text: "Check that this message arrived",
          quote: "",
          due_date: null,
          participant_id: "1",
        },
      ],
      ai_chapters: [{ title: "Introduction", start: 0, quote: "" }],
      highlights: [],
    },
    baseUrl,
    template,
  );
}

/** `0:12:30`, as chats show it. */
function timeOf(ms: number): string {
  return clock(ms, ".")
    .slice(0, 8)
    .replace(/^00:/, "")
    .replace(/^0(\d)/, "$1");
}

/** `2026-11-28 09:30 UTC`. */
export function dateInUtc(start: string): string {
  return `${start.slice(0, 16).replace("T", " ")} UTC`;
}
