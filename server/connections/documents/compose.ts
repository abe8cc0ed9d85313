import type { RecordingDocument } from "../../../contract/documents/document.ts";
import { type DocumentPart, documentParts } from "../../../contract/documents/document-parts.ts";
import type { RecordingParts } from "../exports/read.ts";

/** What a document or a message needs of a recording. */
export type Content = Pick<
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
  | "ai_template_sections"
  | "ai_chapters"
  | "highlights"
  | "transcript_language"
>;

type Entry = Pick<RecordingParts["entries"][number], "participant_id" | "speaker" | "start" | "text">;

/** A recording as people read it: what chats, emails, printed pages and Word documents are written from. */
export function composeDocument(
  recording: Content,
  entries: readonly Entry[],
  baseUrl: string,
  parts: readonly DocumentPart[] = documentParts,
): RecordingDocument {
  const names = new Map(recording.participants.map(({ id, name }) => [id, name]));
  const markdown = recording.ai_summary?.trim() ?? "";
  const sections = recording.ai_template_sections.map((section) => ({
    title: section.title,
    markdown: section.markdown,
  }));
  const all = {
    summary: markdown === "" && sections.length === 0 ? null : { markdown, sections },
    action_items: recording.ai_action_items.map((item) => ({
      text: item.text,
      timestamp: item.timestamp,
      assignee: item.participant_id === null ? null : (names.get(item.participant_id) ?? null),
      due_date: item.due_date,
      is_done: item.status === "completed",
    })),
    chapters: recording.ai_chapters.map(({ title, start }) => ({ text: title, timestamp: start })),
    highlights: recording.highlights.map(({ text, timestamp }) => ({ text, timestamp })),
    transcript: parts.includes("transcript") ? turnsOf(entries) : [],
  };
  const isMissing = (part: DocumentPart): boolean =>
    part === "summary" ? all.summary === null : all[part].length === 0;
  const pick = (part: DocumentPart): boolean => parts.includes(part);
  return {
    title: recording.title,
    url: recording.url ?? `${baseUrl}/recordings/${recording.id}`,
    start_datetime: recording.start_datetime,
    duration_ms: recording.duration_ms,
    language: recording.transcript_language,
    people: recording.participants.map(({ name }) => name),
    tags: [...recording.tags],
    meeting_type: recording.meeting_type?.name ?? null,
    summary: pick("summary") ? all.summary : null,
    action_items: pick("action_items") ? all.action_items : [],
    chapters: pick("chapters") ? all.chapters : [],
    highlights: pick("highlights") ? all.highlights : [],
    transcript: all.transcript,
    missing: parts.filter(isMissing),
  };
}

/** A speaker who continues for longer than this gets another paragraph. */
const maxTurn = 1000;

/** Joins what one speaker says in a row. */
function turnsOf(entries: readonly Entry[]): RecordingDocument["transcript"] {
  const turns: { entry: Entry; texts: string[]; length: number }[] = [];
  for (const entry of entries) {
    const last = turns.at(-1);
    const isSame =
      last?.entry.speaker === entry.speaker && last.entry.participant_id === entry.participant_id;
    if (last !== undefined && isSame && last.length < maxTurn) {
      last.texts.push(entry.text.trim());
      last.length += entry.text.length;
    } else turns.push({ entry, texts: [entry.text.trim()], length: entry.text.length });
  }
  return turns.map(({ entry, texts }) => ({
    speaker: entry.speaker,
    timestamp: entry.start,
    text: texts.join(" "),
  }));
}
