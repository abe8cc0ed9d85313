/** A word as speech servers return it; times in seconds. */
export interface TimedWord {
  readonly text: string;
  readonly start: number | null;
  readonly end: number | null;
  readonly speaker?: string | number | null | undefined;
}

/** A pause of this length in seconds ends a segment, as does a segment this long. */
const pauseSec = 1;
const maxSegmentSec = 20;

/** Words that became a segment. */
export interface JoinedWords extends TimedWord {
  readonly words: readonly TimedWord[];
}

/** Joins single words into segments, split by speaker, pause, end of sentence and length. */
export function joinWords(words: readonly TimedWord[]): JoinedWords[] {
  const groups: TimedWord[][] = [];
  for (const word of words) {
    const group = groups.at(-1);
    if (group === undefined || startsSegment(group, word)) groups.push([word]);
    else group.push(word);
  }
  // Some servers keep the space before each word, as Whisper's tokens have it; then it marks where words end.
  const hasSpaces = words.slice(1).some((word) => /^\s/.test(word.text));
  return groups.map((group) => ({
    start: group[0]?.start ?? null,
    end: group.at(-1)?.end ?? null,
    speaker: group[0]?.speaker,
    words: group,
    text: hasSpaces ? group.map((word) => word.text).join("") : joinSpaced(group),
  }));
}

function startsSegment(group: readonly TimedWord[], word: TimedWord): boolean {
  const first = group[0];
  const last = group.at(-1);
  if (last === undefined || (word.speaker ?? null) !== (last.speaker ?? null)) return true;
  if (/[.?!。？！…]["'”’)]?\s*$/u.test(last.text)) return true;
  if (word.start === null) return false;
  const pause = last.end === null ? 0 : word.start - last.end;
  return pause > pauseSec || word.start - (first?.start ?? word.start) > maxSegmentSec;
}

/** Chinese, Japanese, Thai and similar scripts are written without spaces. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Adds a space between words, except in scripts without spaces and before punctuation. */
function joinSpaced(words: readonly TimedWord[]): string {
  let before = "";
  const parts = words.map(({ text }) => {
    const touches =
      before === "" ||
      unspaced.test(before.at(-1) ?? "") ||
      unspaced.test(text[0] ?? "") ||
      /^[.,;:?!]/.test(text);
    before = text;
    return touches ? text : ` ${text}`;
  });
  return parts.join("");
}
