import {
  defaultTemplate,
  fillTemplate,
  type Placeholder,
  showsTranscriptAsSummary,
} from "../../../contract/deliveries/template.ts";
import type { Database } from "../../platform/db/database.ts";
import type { I18n } from "../../platform/language/i18n.ts";
import { writtenTime } from "../../platform/language/written-time.ts";
import { type Content, composeDocument } from "../documents/compose.ts";
import { momentUrl, timeOf } from "../documents/moments.ts";
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
  /** Of Parley's own words in it. */
  readonly i18n: I18n;
  /** Of its date; null: UTC. */
  readonly timeZone: string | null;
}

/** Who a message is written for. */
export interface Reader {
  readonly i18n: I18n;
  /** Null: it is not known. */
  readonly timeZone: string | null;
}

/** What is written of a recording. */
export interface Written {
  readonly recording: Content;
  readonly entries: Parameters<typeof composeDocument>[1];
}

/** A private-use character: no font has it, and `plain` removes it from what users wrote. */
export const dateMark = "\uE000";

function plain(text: string): string {
  return text.replaceAll(dateMark, "");
}

const maxTitle = 200;

/** Of a transcript without a summary: turns, and characters of each. */
const maxTurns = 5;
const maxTurn = 300;

/** Reads a recording to send it; not from the replica, which may not have the summary yet. */
export async function readContent(
  { pool }: Pick<Database, "pool">,
  baseUrl: string,
  subject: ExportSubject,
): Promise<RecordingParts | undefined> {
  return readParts({ pool, replica: null }, baseUrl, subject);
}

export function composeMessage(
  { i18n, timeZone }: Reader,
  { recording, entries }: Written,
  baseUrl: string,
  template: string | null,
): Message {
  const document = composeDocument(recording, entries, baseUrl);
  const { url } = document;
  const at = (ms: number): string => `[${timeOf(ms)}](${momentUrl(url, ms)})`;
  const lines = (list: readonly string[]): string => list.map((line) => `- ${line}`).join("\n");
  const written = (text: string): string => escapeMarkdown(plain(text));
  const moments = (list: typeof document.chapters): string =>
    lines(list.map(({ text, timestamp }) => `${at(timestamp)} ${written(text)}`));
  const summary = plain(document.summary?.markdown ?? "");
  const transcript = summary === "" ? firstLines(document, i18n, written) : "";
  const used = template ?? defaultTemplate(headings(i18n));
  const values: Record<Placeholder, string> = {
    title: written(document.title),
    url,
    date: dateMark,
    duration: timeOf(document.duration_ms),
    people: document.people.map(written).join(", "),
    tags: document.tags.map(written).join(", "),
    meeting_type: written(document.meeting_type ?? ""),
    summary: showsTranscriptAsSummary(used) ? summary || transcript : summary,
    transcript,
    action_items: lines(
      document.action_items.map(({ text, timestamp, assignee, is_done: isDone }) => {
        const who = assignee === null ? "" : ` — **${written(assignee)}**`;
        return `[${isDone ? "x" : " "}] ${written(text)}${who} ${at(timestamp)}`;
      }),
    ),
    chapters: moments(document.chapters),
    highlights: moments(document.highlights),
  };
  const title = plain(recording.title).replace(/\s+/g, " ").trim();
  return {
    title: [...title].length > maxTitle ? `${[...title].slice(0, maxTitle - 1).join("")}…` : title,
    url,
    start: recording.start_datetime,
    text: fillTemplate(used, values),
    i18n,
    timeZone,
  };
}

/** The first lines of a transcript, for a message without a summary; a link says how many more there are. */
function firstLines(
  { transcript, url }: Pick<ReturnType<typeof composeDocument>, "transcript" | "url">,
  i18n: I18n,
  written: (text: string) => string,
): string {
  const shown = transcript
    .slice(0, maxTurns)
    .map(({ speaker, text }) => ({ speaker, ...shorten(text, maxTurn) }));
  const count = transcript.length - shown.length;
  const more =
    count > 0
      ? i18n.t("{count, plural, one {… # more line} other {… # more lines}}", { count })
      : shown.some(({ isCut }) => isCut)
        ? i18n.t("Read more")
        : null;
  const next = transcript[maxTurns];
  return [
    ...shown.map(
      ({ speaker, text }) => `${speaker === "" ? "" : `**${written(speaker)}:** `}${written(text)}`,
    ),
    ...(more === null ? [] : [`[${more}](${next === undefined ? url : momentUrl(url, next.timestamp)})`]),
  ].join("\n");
}

function shorten(text: string, max: number): { readonly text: string; readonly isCut: boolean } {
  const characters = [...text.slice(0, 2 * max + 2).replace(/\s+/g, " ")];
  const isCut = characters.length > max;
  return { text: isCut ? `${characters.slice(0, max - 1).join("")}…` : characters.join(""), isCut };
}

function headings(i18n: I18n): Parameters<typeof defaultTemplate>[0] {
  return {
    action_items: i18n.t("Action items"),
    chapters: i18n.t("Chapters"),
    highlights: i18n.t("Highlights"),
  };
}

/** A recording for previews and tests where there is none: with a summary, or without one as where there is no language model. */
export function sampleRecording(i18n: I18n, baseUrl: string, hasSummary: boolean): Written {
  const participant = {
    email: null,
    phone: null,
    scope: "internal",
    confirmed_attendee: true,
    is_invited: false,
    attended: true,
  } as const;
  const times = { crm_contact_id: null, observed_join_time: null, observed_leave_time: null };
  const task = i18n.t("Check that this message arrived");
  const recording: Content = {
    id: "sample",
    url: baseUrl,
    title: i18n.t("Test message from Parley"),
    start_datetime: new Date().toISOString(),
    duration_ms: 1_800_000,
    participants: [
      { ...participant, ...times, id: "1", name: "Ada" },
      { ...participant, ...times, id: "2", name: "Grace" },
    ],
    tags: [i18n.t("test")],
    meeting_type: null,
    ai_summary: null,
    ai_action_items: [],
    ai_chapters: [],
    highlights: [],
    ai_template_sections: [],
    transcript_language: null,
  };
  if (!hasSummary) {
    const texts = [i18n.t("This is a test. Transcripts of recordings will look like this."), task];
    const entries = texts.map((text, index) => ({
      participant_id: null,
      speaker: index === 0 ? "Ada" : "Grace",
      start: index * 5000,
      text,
    }));
    return { recording, entries };
  }
  return {
    recording: {
      ...recording,
      ai_summary: i18n.t("This is a test. Summaries of recordings will look like this."),
      ai_action_items: [
        { status: "pending", timestamp: 60_000, text: task, quote: "", due_date: null, participant_id: "1" },
      ],
      ai_chapters: [{ title: i18n.t("Introduction"), start: 0, quote: "" }],
    },
    entries: [],
  };
}

/** A message with a line that says so: nothing else distinguishes a test of a real recording from its message. */
export function markAsTest(message: Message): Message {
  return { ...message, text: `**${message.i18n.t("Test message from Parley")}**\n\n${message.text}` };
}

/** In the message's language and time zone, which it names: readers of a chat are in any time zone. */
export function dateOf({ i18n, start, timeZone }: Pick<Message, "i18n" | "start" | "timeZone">): string {
  return writtenTime(i18n.language, new Date(start), timeZone);
}
