/** Repetitions of a phrase, and characters without spaces, from which on nobody is likely to have said it. */
const minRepetitions = 4;
const minCharacters = 24;

/**
 * Whether a text is one phrase over and over, as models write for noise and silence. The last repetition may be cut off.
 * Takes time proportional to the length.
 */
export function repeatsOnePhrase(text: string): boolean {
  const characters = [...text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "")];
  if (characters.length < minCharacters) return false;
  return characters.length / periodOf(characters) >= minRepetitions;
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
