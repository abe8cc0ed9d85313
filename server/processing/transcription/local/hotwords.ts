/** How strongly hotwords are preferred; the engine's own default. */
const hotwordsScore = 1.5;

/** Hotwords for a transducer: the part of its configuration, and the text that each stream gets. */
export interface Hotwords {
  readonly vocabulary: string;
  readonly text: string;
}

/**
 * Prepares hotwords. The engine splits them into the model's tokens, for which it needs a table with the merge order of
 * the tokens; in the models of NVIDIA that is their order in `tokens.txt`.
 * @returns null where there are none, or the tokens are not parts of words.
 */
export function prepareHotwords(words: readonly string[], tokens: string): Hotwords | null {
  // Separators of the engine's own syntax.
  const clean = words.map((word) => word.replace(/[/:#@\s]+/g, " ").trim()).filter((word) => word !== "");
  const names = tokens
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.slice(0, Math.max(0, line.lastIndexOf(" "))));
  if (clean.length === 0 || !names.some((name) => name.startsWith("▁"))) return null;
  return {
    vocabulary: `${names.map((name, index) => `${name}\t-${index}`).join("\n")}\n`,
    text: clean.join("/"),
  };
}

/** The engine's settings for hotwords. @param path of the vocabulary. */
export function hotwordSettings(path: string): { readonly model: object; readonly recognizer: object } {
  return {
    model: { modelingUnit: "bpe", bpeVocab: path },
    recognizer: { decodingMethod: "modified_beam_search", maxActivePaths: 4, hotwordsScore },
  };
}
