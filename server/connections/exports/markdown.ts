import { sortableTime } from "../../platform/language/written-time.ts";
import { clock } from "../../recordings/recordings/transcript/format.ts";
import type { ExportedEntry, ExportedRecording } from "./read.ts";

/** A recording to read: what it was, its summary, and its transcript. */
export function toMarkdown(recording: ExportedRecording, entries: readonly ExportedEntry[]): string {
  const { title, start_datetime: start, duration_ms: ms, participants, ai_summary: summary } = recording;
  const head = [
    `# ${escapeMarkdown(title)}`,
    "",
    `- Date: ${sortableTime(new Date(start))}`,
    `- Duration: ${clock(ms, ".").slice(0, 8)}`,
    ...(participants.length === 0
      ? []
      : [`- Participants: ${participants.map(({ name }) => escapeMarkdown(name)).join(", ")}`]),
    ...(recording.tags.length === 0 ? [] : [`- Tags: ${recording.tags.join(", ")}`]),
  ];
  const chapters = recording.ai_chapters.map(
    ({ title: words, start: at }) => `- ${clock(at, ".").slice(0, 8)} ${escapeMarkdown(words)}`,
  );
  const items = recording.ai_action_items.map(
    ({ status, text }) => `- [${status === "completed" ? "x" : " "}] ${escapeMarkdown(text)}`,
  );
  const sections = recording.ai_template_sections.flatMap((section) => [
    "",
    `## ${escapeMarkdown(section.title)}`,
    "",
    section.markdown,
  ]);
  return [
    ...head,
    ...(summary ? ["", "## Summary", "", summary] : []),
    ...(chapters.length === 0 ? [] : ["", "## Chapters", "", ...chapters]),
    ...(items.length === 0 ? [] : ["", "## Action items", "", ...items]),
    ...sections,
    ...(entries.length === 0 ? [] : ["", "## Transcript"]),
    ...entries.flatMap(({ speaker, start: at, text }) => [
      "",
      `**${escapeMarkdown(speaker)}** ${clock(at, ".").slice(0, 8)}  `,
      escapeMarkdown(text),
    ]),
    "",
  ].join("\n");
}

/** Text as Markdown shows it unchanged, on one line. */
export function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_[\]<>#|~]/g, "\\$&");
}
