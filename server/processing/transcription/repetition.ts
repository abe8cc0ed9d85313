/** Repetitions of a phrase, and characters without spaces, from which on nobody is likely to have said it. */
const minRepetitions = 4;
const minCharacters = 24;

/**
 * Whether a text is one phrase over and over, as models write for noise and silence. The last repetition may be cut off.
 * Takes time proportional to the length.
 */
export function repeatsOnePhrase(text: string): boolean {
  const characters = lettersOf(text);
  if (characters.length < minCharacters) return false;
  return characters.length / periodOf(characters) >= minRepetitions;
}

/** Segments after which a sequence of them may begin again. */
const maxSequence = 4;

/** Repetitions of segments from which on they are a model's; people do agree four times in a row. */
const minSequences = 6;

/** A model that repeats itself leaves no pause; a person who says the same again listens in between. */
const maxPauseMs = 1000;

/**
 * Leaves out what a model says over and over in segments of their own: of a sequence of up to four segments that is
 * repeated six times or more by the same speaker without a pause, the first stays. Takes time proportional to the number
 * of segments.
 * @returns the others, in their order.
 */
export function withoutRepetitions<
  S extends {
    readonly text: string;
    readonly speaker: unknown;
    readonly startMs: number;
    readonly endMs: number;
  },
>(segments: readonly S[]): S[] {
  const phrases = segments.map(({ text }) => phraseOf(text));
  const isSame = (index: number, other: number): boolean =>
    phrases[index] === phrases[other] &&
    segments[index]?.speaker === segments[other]?.speaker &&
    (segments[index]?.startMs ?? 0) - (segments[index - 1]?.endMs ?? 0) <= maxPauseMs;
  const isRepeated = new Uint8Array(segments.length);
  for (let length = 1; length <= maxSequence; length++) {
    let characters = 0;
    for (let index = length, run = 0; index <= segments.length; index++) {
      if (index < segments.length && isSame(index, index - length)) {
        run += 1;
        characters += phrases[index]?.length ?? 0;
        continue;
      }
      // The first one belongs to the repetitions too.
      const isLoop =
        run + length >= length * minSequences && (characters * (run + length)) / run >= minCharacters;
      if (isLoop) isRepeated.fill(1, index - run, index);
      run = 0;
      characters = 0;
    }
  }
  return segments.filter((_, index) => isRepeated[index] === 0);
}

/** The letters of a text, or of the phrase that it repeats; other characters where it has none. */
function phraseOf(text: string): string {
  const letters = lettersOf(text);
  const period = periodOf(letters);
  const phrase = letters.length % Math.max(1, period) === 0 ? letters.slice(0, period) : letters;
  return phrase.length > 0 ? phrase.join("") : text.trim();
}

function lettersOf(text: string): string[] {
  return [...text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "")];
}

/** The length of the shortest part whose repetition is the whole (the failure function of Knuth, Morris and Pratt). */
function periodOf(characters: readonly string[]): number {
  const borders = [0];
  for (let index = 1; index < characters.length; index++) {
    let border = borders[index - 1] ?? 0;
    while (border > 0 && characters[border] !== characters[index]) border = borders[border - 1] ?? 0;
    borders.push(characters[border] === characters[index] ? border + 1 : 0);
  }
  return characters.length - (borders.at(-1) ?? 0);
}
