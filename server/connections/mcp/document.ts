import type { z } from "zod";
import type { Point } from "../../../contract/recordings/points.ts";
import { getRecordingView } from "../../../contract/recordings/recording-data.ts";
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

/** Chapters and points with the words that prove them, and the moments of those. */
type Proofs = Pick<
  z.output<typeof getRecordingView.response>,
  "chapters" | "summary_points" | "section_points"
>;

export async function readProofs(ask: Ask, recordingId: string): Promise<Proofs> {
  const path = getRecordingView.path.replace(":recording_id", recordingId);
  const view = (await ask("GET", path)) as z.output<typeof getRecordingView.response>;
  const { chapters, summary_points, section_points } = view;
  return { chapters, summary_points, section_points };
}

/** Each point on a line with its moment and words, under its heading. */
function printPoints(points: readonly Point[]): string {
  return points
    .map(({ heading, text, quote, start }, place) => {
      const isNew = heading !== null && heading !== points[place - 1]?.heading;
      const head = isNew ? `${place === 0 ? "" : "\n"}### ${heading}\n\n` : "";
      return `${head}- [${clock(start)}] ${text} ("${quote}")`;
    })
    .join("\n");
}

/** Reads a recording as a document: summary, chapters and transcript. A long transcript is cut where `read_transcript` continues. */
export async function readDocument(ask: Ask, id: string): Promise<RecordingDocument> {
  const body = { include: { participants: true, ai_summary: true } };
  const recording = (await ask("POST", `${api}/recordings/${id}`, { body })) as Recording;
  const { chapters, summary_points: points } = await readProofs(ask, id);
  const { text, next_from_ms } = await readPart(ask, id, {});
  const participants = (recording.participants ?? []).map(({ name, email }) =>
    email === null ? name : `${name} <${email}>`,
  );
  const summary = points === null ? recording.ai_summary?.text : printPoints(points);
  const parts = [
    `# ${recording.title}`,
    `Started: ${recording.start_datetime}`,
    participants.length === 0 ? null : `Participants: ${participants.join(", ")}`,
    summary ? `## Summary\n\n${summary}` : null,
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
