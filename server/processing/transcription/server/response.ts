import { z } from "zod";
import { countCharacters, maxSegmentCharacters } from "../../../../shared/transcripts/transcript-limits.ts";
import { parseForeignJson } from "../../../platform/json-limits.ts";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import { toLanguageCode } from "../languages.ts";
import { repeatsOnePhrase } from "../repetition.ts";
import type { ChunkTranscript, SpokenSegment, SpokenWord } from "../transcriber.ts";
import { joinWords, type TimedWord } from "./words.ts";

/** A number in the forms servers use: vLLM sends the duration as text. */
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

/** Segments or words; several times what nine minutes of speech have. */
const maxEntries = 10_000;

/** Characters of text; more than ten times what nine minutes of speech have. */
const maxCharacters = 200_000;

/** The formats `json`, `verbose_json` and `diarized_json` in one schema. */
const Answer = z.looseObject({
  text: z.string().nullish(),
  language: z.string().nullish(),
  // OpenAI's newer models return several instead of one.
  languages: z.array(z.looseObject({ code: z.string() })).nullish(),
  duration: number,
  segments: z.array(Segment).max(maxEntries).nullish(),
  words: z.array(Word).max(maxEntries).nullish(),
});

/**
 * Reads the response to a transcription request.
 * @param body JSON in one of the protocol's formats: with segments, with words alone, or with text alone, which becomes
 * one segment as long as the chunk.
 * @param lengthMs of the audio that was sent; times beyond it are cut to it.
 * @throws ModelServerError (unusable, since overloaded servers send such responses) for any other body.
 */
export function readTranscription(body: string, lengthMs: number): ChunkTranscript {
  const parsed = Answer.safeParse(parseJson(body));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const where = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
    throw malformed(`has an unexpected form${where}`);
  }
  const answer = parsed.data;
  if (answer.segments == null && answer.words == null && answer.text == null)
    throw malformed("has neither text nor segments nor words");
  const read = readSegments(answer, lengthMs);
  if (countCharacters(read) > maxCharacters)
    throw malformed(`has more than ${maxCharacters} characters of text`);
  const segments = read.filter(({ text }) => !repeatsOnePhrase(text));
  const unclear = read.length - segments.length + (answer.segments ?? []).filter(isImagined).length;
  const language = answer.language ?? answer.languages?.[0]?.code;
  return {
    language: language === undefined ? null : toLanguageCode(language),
    durationMs: answer.duration === null ? null : Math.max(0, Math.round(answer.duration * 1000)),
    segments: segments.flatMap(splitLong),
    ...(unclear === 0 ? {} : { unclear }),
  };
}

function readSegments(answer: z.output<typeof Answer>, lengthMs: number): SpokenSegment[] {
  const spoken = (answer.segments ?? []).filter((segment) => cleanText(segment.text) !== "");
  const words = (answer.words ?? []).flatMap((word): TimedWord[] => {
    const text = word.word ?? word.text ?? "";
    return text.trim() === "" ? [] : [{ ...word, text }];
  });
  if (spoken.length > 0)
    return place(
      withWords(spoken, words).filter((segment) => !isImagined(segment)),
      lengthMs,
    );
  if (words.length > 0) return place(joinWords(words), lengthMs);
  return place([{ text: answer.text ?? "", start: 0, end: lengthMs / 1000, speaker: null }], lengthMs);
}

/** Gives each word to the segment that its middle is in. */
function withWords<S extends RawSegment>(segments: readonly S[], words: readonly TimedWord[]): S[] {
  if (words.length === 0) return [...segments];
  const sorted = words.toSorted((a, b) => (a.start ?? 0) - (b.start ?? 0));
  let next = 0;
  return segments.map((segment) => {
    const own: TimedWord[] = [];
    for (; next < sorted.length; next++) {
      const word = sorted[next] as TimedWord;
      const middle = ((word.start ?? 0) + (word.end ?? word.start ?? 0)) / 2;
      if (segment.end !== null && middle > segment.end) break;
      if (segment.start === null || middle >= segment.start) own.push(word);
    }
    return { ...segment, words: own };
  });
}

/**
 * Whether Whisper invented a segment, as it does in silence: it found no speech and has little confidence in its own
 * words. Servers without these figures leave them out.
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
  readonly words?: readonly TimedWord[];
}

/** Fits times in seconds, some of them missing or wrong, into the chunk. */
function place(segments: readonly RawSegment[], lengthMs: number): SpokenSegment[] {
  const clamp = (ms: number, least: number): number => Math.round(Math.min(Math.max(ms, least), lengthMs));
  let before = 0;
  const placed = segments.flatMap((segment, index): SpokenSegment[] => {
    const text = cleanText(segment.text);
    if (text === "") return [];
    // A missing start is the end of the previous segment; a missing end is the start of the next one.
    const startMs = clamp(segment.start === null ? before : segment.start * 1000, 0);
    const end = segment.end ?? segments[index + 1]?.start ?? null;
    const endMs = clamp(end === null ? lengthMs : end * 1000, startMs);
    before = endMs;
    const words = (segment.words ?? []).flatMap((word): SpokenWord[] => {
      const [start, end] = [(word.start ?? -1) * 1000, (word.end ?? -1) * 1000];
      if (start < 0 || end < start) return [];
      const wordStart = clamp(start, startMs);
      return [{ startMs: wordStart, endMs: clamp(end, wordStart), text: word.text.trim() }];
    });
    const spoken = { startMs, endMs, text, speaker: readSpeaker(segment.speaker) };
    return [words.length === 0 ? spoken : { ...spoken, words }];
  });
  return placed.sort((a, b) => a.startMs - b.startMs);
}

/** Splits a segment that is longer than a transcript allows, between words; the parts share its time. */
function splitLong(segment: SpokenSegment): SpokenSegment[] {
  const { startMs, endMs, text } = segment;
  if (text.length <= maxSegmentCharacters) return [segment];
  const parts: SpokenSegment[] = [];
  const timeAt = (character: number): number =>
    Math.round(startMs + ((endMs - startMs) * character) / text.length);
  for (let from = 0; from < text.length; ) {
    const to = endOfPart(text, from);
    const part = text.slice(from, to).trim();
    if (part !== "") parts.push({ ...segment, startMs: timeAt(from), endMs: timeAt(to), text: part });
    from = to;
  }
  return parts;
}

/** After a space if the last half of the part has one, and never between the halves of a surrogate pair. */
function endOfPart(text: string, from: number): number {
  const longest = from + maxSegmentCharacters;
  if (longest >= text.length) return text.length;
  const space = text.lastIndexOf(" ", longest - 1);
  if (space > from + maxSegmentCharacters / 2) return space + 1;
  return /[\udc00-\udfff]/.test(text[longest] ?? "") ? longest - 1 : longest;
}

function readSpeaker(value: string | number | null | undefined): string | null {
  const label = value == null ? "" : cleanText(String(value)).slice(0, 200);
  return label === "" ? null : label;
}

/** One line that PostgreSQL accepts: no control characters, no halves of surrogate pairs. */
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
    return parseForeignJson(body);
  } catch {
    try {
      // Python writes NaN and Infinity, which are not JSON, where a model has no figure. Strings stay as they are.
      return parseForeignJson(
        body.replace(/"(?:[^"\\]|\\.)*"?|NaN|-?Infinity/g, (part) => (part.startsWith('"') ? part : "null")),
      );
    } catch (error) {
      const isPage = body.trimStart().startsWith("<");
      throw malformed(isPage ? "is a web page, not JSON" : "is not valid JSON", error);
    }
  }
}

function malformed(how: string, cause?: unknown): ModelServerError {
  return new ModelServerError("unusable", `The speech server's response ${how}.`, { cause });
}
