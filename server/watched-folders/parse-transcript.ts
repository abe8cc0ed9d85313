import { setImmediate as pause } from "node:timers/promises";
import { z } from "zod";
import { checkLimits, finishSubtitles, readCues, type Segment } from "../../contract/subtitles.ts";
import { maxSegments } from "../../contract/transcript-limits.ts";

/** As long as the body of a request with a transcript. */
export const maxTextBytes = 12 * 1024 * 1024;

/** Cues are read for this long before other work gets its turn. */
const sliceMs = 20;

const time = z.number().min(0);

/** The JSON format of the API, times in milliseconds. */
const Entries = z.array(z.object({ speaker: z.string().max(500), start: time, end: time, text: z.string() }));

/** As the programs around Whisper write it, times in seconds. */
const Whisper = z.object({
  segments: z.array(
    z.object({ start: time, end: time, text: z.string(), speaker: z.string().max(500).optional() }),
  ),
});

/**
 * Reads the transcript of a recording from a file with this name.
 * @returns null: a JSON file of another kind.
 * @throws TranscriptFileError when it is no valid transcript.
 */
export async function parseTranscript(name: string, text: string): Promise<Segment[] | null> {
  return name.toLowerCase().endsWith(".json") ? readJson(text) : readSubtitles(text);
}

async function readSubtitles(text: string): Promise<Segment[]> {
  const segments: Segment[] = [];
  let began = performance.now();
  for (const cue of readCues(text)) {
    // The limit is checked below.
    if (cue !== null && segments.push(cue) > maxSegments) break;
    if (performance.now() - began < sliceMs) continue;
    await pause();
    began = performance.now();
  }
  return finishSubtitles(segments);
}

function readJson(text: string): Segment[] | null {
  const entries = entriesOf(text);
  if (entries === null) return null;
  const segments = entries
    .filter((entry) => entry.text.trim() !== "")
    .map(({ speaker, start, end, text: said }) => ({
      speaker_key: speaker.trim() || "Speaker 1",
      start: Math.round(start),
      end: Math.round(Math.max(start, end)),
      text: said.trim(),
    }));
  return segments.length === 0 ? null : checkLimits(segments).sort((a, b) => a.start - b.start);
}

function entriesOf(text: string): z.output<typeof Entries> | null {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return null;
  }
  const entries = Entries.safeParse(value);
  if (entries.success) return entries.data;
  const whisper = Whisper.safeParse(value);
  if (!whisper.success) return null;
  return whisper.data.segments.map(({ start, end, text: said, speaker = "Speaker 1" }) => ({
    speaker,
    start: start * 1000,
    end: end * 1000,
    text: said,
  }));
}
