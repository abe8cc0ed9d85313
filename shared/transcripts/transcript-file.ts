import { decodeText } from "../files/text-encoding.ts";
import { fillSentence } from "../fill-sentence.ts";
import { transcriptSentences } from "./sentences.ts";
import { isAss } from "./subtitles/ass.ts";
import { describeUnread, readSubtitles, type TranscriptReading } from "./subtitles.ts";
import { readTranscriptJson } from "./transcript-json.ts";

/** What was read of a transcript file, and what should be said about it. */
export interface TranscriptFile extends TranscriptReading {
  /** Sentences for the user: what could not be read, and the encoding if it is assumed. */
  readonly notes: readonly string[];
}

/**
 * Reads a transcript or captions of any known format, which the content decides, step by step.
 * @param language that is spoken, if it is known.
 * @throws TranscriptFileError if nothing can be read; NoTranscriptError for a JSON file of another kind.
 */
export function* readTranscriptFile(bytes: Uint8Array, language?: string): Generator<null, TranscriptFile> {
  const { text, encoding, isAssumed } = decodeText(bytes, language === undefined ? {} : { language });
  yield null;
  const isJson = /^\s*[[{]/.test(text.slice(0, 1000)) && !isAss(text);
  const reading = isJson ? readTranscriptJson(text) : yield* readSubtitles(text);
  const notes = [describeUnread(reading.unread), isAssumed ? describeEncoding(encoding) : null];
  return { ...reading, notes: notes.filter((note) => note !== null) };
}

/** Says in which encoding a text was read that nothing in its file tells. */
export function describeEncoding(encoding: string): string {
  if (encoding === "utf-8") return transcriptSentences.transcript_encoding_mixed;
  return fillSentence(transcriptSentences.transcript_encoding, { encoding });
}
