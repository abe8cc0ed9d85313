import { fillSentence } from "../../../shared/fill-sentence.ts";
import { transcriptSentences } from "../../../shared/transcripts/sentences.ts";
import { checkLimits, type Segment, TranscriptFileError } from "../../../shared/transcripts/subtitles.ts";

const maxNameCharacters = 320;

/** Speaking time per letter; a Chinese, Japanese or Korean character is at least a syllable. */
const letterMs = 65;
const syllableMs = 220;
const minMs = 800;

/**
 * Parses lines of `Speaker: text`, the API's text format. They have no times, so each line gets its estimated speaking time,
 * in sequence.
 * @throws TranscriptFileError with the line number.
 */
export function parseTextTranscript(file: string): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  for (const [index, line] of file
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\r|\n/)
    .entries()) {
    if (line.trim() === "") continue;
    const colon = line.indexOf(":");
    const speaker = line.slice(0, Math.max(0, colon)).trim();
    const said = line.slice(colon + 1);
    if (speaker === "" || /^\S/.test(said))
      throw new TranscriptFileError(
        fillSentence(transcriptSentences.transcript_no_speaker, { number: index + 1 }),
      );
    if (speaker.length > maxNameCharacters)
      throw new TranscriptFileError(
        fillSentence(transcriptSentences.transcript_name_long, {
          number: index + 1,
          count: speaker.length,
          limit: maxNameCharacters,
        }),
      );
    const text = said.trim();
    if (text === "") continue;
    const end = at + estimateMs(text);
    segments.push({ speaker_key: speaker, start: at, end, text });
    at = end;
  }
  return checked(segments);
}

function estimateMs(text: string): number {
  const syllables = text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0;
  return Math.max(minMs, syllables * syllableMs + (text.length - syllables) * letterMs);
}

function checked(segments: Segment[]): Segment[] {
  if (segments.length === 0) throw new TranscriptFileError(transcriptSentences.transcript_no_text);
  return checkLimits(segments);
}
