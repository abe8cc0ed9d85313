import type { z } from "zod";
import { readTranscriptPart } from "../../../contract/transcripts/transcript-editing.ts";
import type { Ask } from "./ask.ts";

/** The requested part; all of it by default. Milliseconds from the start of the recording. */
interface Range {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A part of a transcript as an assistant reads it. */
interface TranscriptPart {
  /** One line for each segment: `[1:02:03] Speaker: text`. */
  readonly text: string;
  /** Where to continue if it did not all fit; null if it did. */
  readonly next_from_ms: number | null;
}

/** Reads the segments that touch the range, as lines. */
export async function readPart(ask: Ask, recordingId: string, { from, to }: Range): Promise<TranscriptPart> {
  const query = {
    from_ms: from === undefined ? undefined : String(Math.floor(from)),
    to_ms: to === undefined ? undefined : String(Math.ceil(to)),
  };
  const path = readTranscriptPart.path.replace(":recording_id", recordingId);
  const part = (await ask("GET", path, { query })) as z.output<typeof readTranscriptPart.response>;
  const lines = part.segments.map(({ speaker, start, text }) => `[${clock(start)}] ${speaker}: ${text}`);
  return { text: lines.join("\n"), next_from_ms: part.next_from_ms };
}

/** A time such as `7:05` or `1:02:09`. */
export function clock(ms: number): string {
  const total = Math.floor(ms / 1000);
  const pad = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(seconds)}` : `${minutes}:${pad(seconds)}`;
}
