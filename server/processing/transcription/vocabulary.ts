/** The first words of a vocabulary that fit into a limit. */
export function cutVocabulary(
  words: readonly string[],
  limit: number,
  sizeOf: (word: string) => number,
): string[] {
  let size = 0;
  return words.filter((word) => {
    size += sizeOf(word);
    return size <= limit;
  });
}
