import { fillSentence } from "../../fill-sentence.ts";
import { transcriptSentences } from "../sentences.ts";
import { maxMilliseconds, maxSegmentCharacters } from "../transcript-limits.ts";
import { type Cue, withoutStart } from "./cue.ts";
import type { Run } from "./markup.ts";
import type { Report } from "./report.ts";
import { rollUp } from "./rolling.ts";
import { type FindPrefix, findSpeakers } from "./speakers.ts";
import { type SubtitleWord, type TimedRun, timed, wordsOf } from "./words.ts";

/** A transcript segment; times in milliseconds from the start of the recording. */
export interface Segment {
  readonly speaker_key: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The words whose times the file has; absent: none. */
  readonly words?: readonly SubtitleWord[];
}

const maxSpeaker = 500;

/** The segments of cues, with the speakers that the format or the text names. Yields so that a caller can pause. */
export function* segmentsOf(cues: readonly Cue[], report: Report): Generator<null, Segment[]> {
  // What is not read is no evidence either.
  const rolled = rollUp(cues.filter((cue) => hasValidTimes(cue, report)));
  yield null;
  const findPrefix = yield* findSpeakers(rolled);
  const turns: Turn[] = [];
  for (const cue of rolled) {
    turns.push(...turnsOf(cue, findPrefix, report));
    yield null;
  }
  const nobody = unusedSpeaker(new Set(turns.map(({ speaker }) => speaker)));
  return turns.map(({ speaker, ...turn }) => ({ speaker_key: speaker ?? nobody, ...turn }));
}

/** The speaker of cues that name none. */
export function unusedSpeaker(used: ReadonlySet<string | null>): string {
  let number = 1;
  while (used.has(`Speaker ${number}`)) number += 1;
  return `Speaker ${number}`;
}

interface Turn extends Omit<Segment, "speaker_key"> {
  readonly speaker: string | null;
}

function hasValidTimes({ start, end, line }: Cue, report: Report): boolean {
  const isBackwards = end < start;
  if (isBackwards) report.add(line, transcriptSentences.transcript_backwards);
  else if (end > maxMilliseconds) report.add(line, transcriptSentences.transcript_late);
  return !isBackwards && end <= maxMilliseconds;
}

/** What each speaker of a cue says. */
function turnsOf(cue: Cue, findPrefix: FindPrefix, report: Report): Turn[] {
  const end = cue.end;
  const start = Math.max(0, cue.start);
  const runs = timed(attributed(cue, findPrefix), start, Math.max(0, end));
  const parts: { speaker: string | null; runs: TimedRun[] }[] = [];
  for (const run of runs) {
    const last = parts.at(-1);
    // Punctuation behind the end of a voice is no speaker's own.
    const isPunctuation = run.voice === null && !/[\p{L}\p{N}]/u.test(run.text);
    if (last !== undefined && (last.speaker === run.voice || isPunctuation)) last.runs.push(run);
    else parts.push({ speaker: run.voice, runs: [run] });
  }
  return parts.flatMap(({ speaker, runs }) => {
    const text = runs
      .map((run) => run.text)
      .join("")
      .replaceAll("\0", "")
      .trim();
    if (text === "") return [];
    if (text.length > maxSegmentCharacters && text.replace(/\s+/g, " ").length > maxSegmentCharacters) {
      report.add(
        cue.line,
        fillSentence(transcriptSentences.transcript_part_long, {
          count: text.length,
          limit: maxSegmentCharacters,
        }),
      );
      return [];
    }
    const words = wordsOf(runs, Math.max(0, end));
    const isPart = parts.length > 1 && words.length > 0;
    return [
      {
        speaker: speaker === null ? null : cutName(speaker),
        start: isPart ? (runs[0]?.start ?? start) : start,
        end: isPart ? Math.max(runs[0]?.start ?? start, runs.at(-1)?.end ?? end) : Math.max(0, end),
        text,
        ...(words.length === 0 ? {} : { words }),
      },
    ];
  });
}

/** The runs of a cue on one line, with the speakers that its text names. */
function attributed({ lines }: Cue, findPrefix: FindPrefix): Run[] {
  let named: string | null = null;
  return lines.flatMap((line, index) => {
    const prefix = findPrefix(line);
    if (prefix !== null) named = prefix.name;
    const { runs } = prefix === null ? line : withoutStart(line, prefix.length);
    return runs.map((run, at) => ({
      ...run,
      voice: run.voice ?? named,
      text: at === 0 && index > 0 ? ` ${run.text}` : run.text,
    }));
  });
}

/** A speaker's name on one line, and no longer than a key may be. */
export function cutName(name: string): string {
  const cut = name
    .replaceAll("\0", "")
    .replaceAll(/\s+/g, (space) => (/[\r\n]/.test(space) ? " " : space))
    .trim();
  return cut.length <= maxSpeaker ? cut : cut.slice(0, maxSpeaker).replace(/[\ud800-\udbff]$/, "");
}
