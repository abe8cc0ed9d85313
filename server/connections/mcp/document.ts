import type { Ask } from "./ask.ts";
import { clock, readPart } from "./transcript-text.ts";

const api = "/_/public-api/v2";

interface Recording {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly start_datetime: string;
  readonly duration_ms: number;
  readonly media_type: string;
  readonly participants?: readonly { readonly name: string; readonly email: string | null }[];
  readonly ai_summary?: { readonly text: string } | null;
}

/** A recording as one text with its metadata: the shape that assistants expect of a tool named `fetch`. */
export interface RecordingDocument {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly url: string;
  readonly metadata: Readonly<Record<string, string | number | readonly string[] | null>>;
}

interface Chapters {
  readonly chapters: readonly { readonly title: string; readonly start: number; readonly quote: string }[];
}

export async function readChapters(ask: Ask, recordingId: string): Promise<Chapters> {
  return (await ask("GET", `/_/api/v1/recordings/${recordingId}/chapters`)) as Chapters;
}

/** Reads a recording as a document: summary, chapters and transcript. A long transcript is cut where `read_transcript` continues. */
export async function readDocument(ask: Ask, id: string): Promise<RecordingDocument> {
  const body = { include: { participants: true, ai_summary: true } };
  const recording = (await ask("POST", `${api}/recordings/${id}`, { body })) as Recording;
  const { chapters } = await readChapters(ask, id);
  const { text, next_from_ms } = await readPart(ask, id, {});
  const participants = (recording.participants ?? []).map(({ name, email }) =>
    email === null ? name : `${name} <${email}>`,
  );
  const parts = [
    `# ${recording.title}`,
    `Started: ${recording.start_datetime}`,
    participants.length === 0 ? null : `Participants: ${participants.join(", ")}`,
    recording.ai_summary?.text ? `## Summary\n\n${recording.ai_summary.text}` : null,
    chapters.length === 0
      ? null
      : `## Chapters\n\n${chapters.map(({ title, start }) => `[${clock(start)}] ${title}`).join("\n")}`,
    text === "" ? null : `## Transcript\n\n${text}`,
    next_from_ms === null
      ? null
      : `The transcript continues: read_transcript with from_ms = ${next_from_ms}.`,
  ];
  return {
    id: recording.id,
    title: recording.title,
    text: parts.filter((part) => part !== null).join("\n\n"),
    url: recording.url,
    metadata: {
      start_datetime: recording.start_datetime,
      duration_ms: recording.duration_ms,
      media_type: recording.media_type,
      participants,
      transcript_continues_at_ms: next_from_ms,
    },
  };
}
