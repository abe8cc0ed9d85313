/** Between two words that a program wrote together: `AdaLovelace`, `audio1`. */
const boundaries = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/gu;

/** Scripts without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;

function wordsOf(text: string): string[] {
  return text
    .normalize("NFKC")
    .replaceAll(boundaries, " ")
    .replaceAll(unspaced, " $& ")
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "");
}

/**
 * Says of texts, such as names of files, whether they contain one of the names as whole words, however they are written:
 * `Ada Lovelace` is in `ada_lovelace.mp4` and in `audioAdaLovelace1.m4a`; `Max` is not in `climax.mp4`.
 */
export function createNameMatch(names: readonly string[]): (text: string) => boolean {
  // A single letter is in too many texts to say anything about a person.
  const wanted = names.map((name) => wordsOf(name).join("")).filter((name) => name.length > 1);
  return (text) => {
    const words = wordsOf(text);
    const joined = words.join("");
    const ends = new Set([0]);
    let length = 0;
    for (const word of words) {
      length += word.length;
      ends.add(length);
    }
    return wanted.some((name) => {
      for (let at = joined.indexOf(name); at !== -1; at = joined.indexOf(name, at + 1))
        if (ends.has(at) && ends.has(at + name.length)) return true;
      return false;
    });
  };
}
