import { loadCauseTexts } from "../../api/client/cause-texts.ts";

/** The app's texts for what the readers of files say in English. */
export async function textsOf(sentences: readonly string[]): Promise<(() => string)[]> {
  if (sentences.length === 0) return [];
  const texts = await loadCauseTexts();
  return sentences.map((sentence) => () => texts?.textOf(sentence) ?? sentence);
}
