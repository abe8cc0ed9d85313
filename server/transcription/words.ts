/** A word as speech servers give it; times in seconds. */
export interface TimedWord {
  readonly text: string;
  readonly start: number | null;
  readonly end: number | null;
  readonly speaker?: string | number | null | undefined;
}

/** A pause of this length in seconds ends a segment, as does a segment this long. */
const pauseSec = 1;
const longestSec = 20;

/** Makes segments of single words: by speaker, pause, end of sentence and length. */
export function joinWords(words: readonly TimedWord[]): TimedWord[] {
  const groups: TimedWord[][] = [];
  for (const word of words) {
    const group = groups.at(-1);
    if (group === undefined || startsSegment(group, word)) groups.push([word]);
    else group.push(word);
  }
  // Some servers keep the space before each word, as Whisper's tokens have it; then it says where words end.
  const hasSpaces = words.slice(1).some((word) => /^\s/.test(word.text));
  return groups.map((group) => ({
    start: group[0]?.start ?? null,
    end: group.at(-1)?.end ?? null,
    speaker: group[0]?.speaker,
    text: hasSpaces ? group.map((word) => word.text).join("") : group.reduce(appendWord, ""),
  }));
}

function startsSegment(group: readonly TimedWord[], word: TimedWord): boolean {
  const first = group[0];
  const last = group.at(-1);
  if (last === undefined || (word.speaker ?? null) !== (last.speaker ?? null)) return true;
  if (/[.?!。？！…]["'”’)]?\s*$/u.test(last.text)) return true;
  if (word.start === null) return false;
  const pause = last.end === null ? 0 : word.start - last.end;
  return pause > pauseSec || word.start - (first?.start ?? word.start) > longestSec;
}

/** Chinese, Japanese, Thai and their like are written without spaces. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

function appendWord(text: string, { text: word }: TimedWord): string {
  if (text === "") return word;
  const touches = unspaced.test(text.at(-1) ?? "") || unspaced.test(word[0] ?? "") || /^[.,;:?!]/.test(word);
  return touches ? text + word : `${text} ${word}`;
}
