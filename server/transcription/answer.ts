import { z } from "zod";
import { toLanguageCode } from "./languages.ts";
import { type ChunkTranscript, type SpokenSegment, TranscriptionError } from "./transcriber.ts";
import { joinWords, type TimedWord } from "./words.ts";

/** A number as servers write it: vLLM sends the duration as text. */
const number = z.union([z.number(), z.string()]).nullish().transform(toFinite);

const speaker = z.union([z.string(), z.number()]).nullish();

const Segment = z.looseObject({
  start: number,
  end: number,
  text: z.string(),
  speaker,
  avg_logprob: number,
  no_speech_prob: number,
});

const Word = z.looseObject({
  start: number,
  end: number,
  word: z.string().optional(),
  text: z.string().optional(),
  speaker,
});

/** More than any nine minutes of speech have; what is above it is no transcript. */
const maxEntries = 50_000;

/** The forms `json`, `verbose_json` and `diarized_json` of the protocol in one. */
const Answer = z.looseObject({
  text: z.string().nullish(),
  language: z.string().nullish(),
  // OpenAI's newer models tell several in place of one.
  languages: z.array(z.looseObject({ code: z.string() })).nullish(),
  duration: number,
  segments: z.array(Segment).max(maxEntries).nullish(),
  words: z.array(Word).max(maxEntries).nullish(),
});

/**
 * Reads a server's answer to a transcription request.
 * @param body JSON in one of the protocol's forms: with segments, with words alone, or with text alone, which then
 * becomes one segment as long as the chunk.
 * @param lengthMs of the audio that was sent; times beyond it are cut to it.
 * @throws TranscriptionError (retryable, since servers say such things when they are overloaded) when it is none.
 */
export function readAnswer(body: string, lengthMs: number): ChunkTranscript {
  const parsed = Answer.safeParse(parseJson(body));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const where = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
    throw malformed(`has an unexpected form${where}`);
  }
  const answer = parsed.data;
  if (answer.segments == null && answer.words == null && answer.text == null)
    throw malformed("has neither text nor segments nor words");
  const language = answer.language ?? answer.languages?.[0]?.code;
  return {
    language: language === undefined ? null : toLanguageCode(language),
    durationMs: answer.duration === null ? null : Math.max(0, Math.round(answer.duration * 1000)),
    segments: readSegments(answer, lengthMs),
  };
}

function readSegments(answer: z.output<typeof Answer>, lengthMs: number): SpokenSegment[] {
  const spoken = (answer.segments ?? []).filter((segment) => cleanText(segment.text) !== "");
  if (spoken.length > 0)
    return place(
      spoken.filter((segment) => !isImagined(segment)),
      lengthMs,
    );
  const words = (answer.words ?? []).flatMap((word): TimedWord[] => {
    const text = word.word ?? word.text ?? "";
    return text.trim() === "" ? [] : [{ ...word, text }];
  });
  if (words.length > 0) return place(joinWords(words), lengthMs);
  return place([{ text: answer.text ?? "", start: 0, end: lengthMs / 1000, speaker: null }], lengthMs);
}

/**
 * Whether Whisper made a segment up: it does so in silence. It takes a segment for silent when it found no speech
 * and trusts its own words little; servers that don't know these figures leave them out.
 */
function isImagined(segment: z.output<typeof Segment>): boolean {
  const { no_speech_prob: noSpeech, avg_logprob: trust } = segment;
  return noSpeech !== null && trust !== null && noSpeech > 0.9 && trust < -1;
}

interface RawSegment {
  readonly start: number | null;
  readonly end: number | null;
  readonly text: string;
  readonly speaker?: string | number | null | undefined;
}

/** Brings times in seconds, some of them missing or wrong, into the chunk. */
function place(segments: readonly RawSegment[], lengthMs: number): SpokenSegment[] {
  const clamp = (ms: number, least: number): number => Math.round(Math.min(Math.max(ms, least), lengthMs));
  let before = 0;
  const placed = segments.flatMap((segment, index): SpokenSegment[] => {
    const text = cleanText(segment.text);
    if (text === "") return [];
    // What has no start begins where the one before ended; what has no end lasts until the next one.
    const startMs = clamp(segment.start === null ? before : segment.start * 1000, 0);
    const end = segment.end ?? segments[index + 1]?.start ?? null;
    const endMs = clamp(end === null ? lengthMs : end * 1000, startMs);
    before = endMs;
    return [{ startMs, endMs, text, speaker: readSpeaker(segment.speaker) }];
  });
  return placed.sort((a, b) => a.startMs - b.startMs);
}

function readSpeaker(value: string | number | null | undefined): string | null {
  const label = value == null ? "" : cleanText(String(value)).slice(0, 200);
  return label === "" ? null : label;
}

/** One line that PostgreSQL takes: no control characters, no halves of surrogate pairs. */
function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

function toFinite(value: string | number | null | undefined): number | null {
  if (value == null || value === "") return null;
  const result = Number(value);
  return Number.isFinite(result) ? result : null;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    try {
      // Python writes NaN and Infinity, which are no JSON, where a model has no figure. Texts stay as they are.
      return JSON.parse(
        body.replace(/"(?:[^"\\]|\\.)*"|NaN|-?Infinity/g, (part) => (part.startsWith('"') ? part : "null")),
      );
    } catch (error) {
      throw malformed("is no complete JSON", error);
    }
  }
}

function malformed(how: string, cause?: unknown): TranscriptionError {
  return new TranscriptionError(`The speech server's answer ${how}.`, { isRetryable: true, cause });
}
