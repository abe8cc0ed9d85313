import { perLocale } from "./locale.ts";

const lineFormat = perLocale(
  (locale) => new Intl.ListFormat(locale, { type: "conjunction", style: "narrow" }),
);
const sentenceFormat = perLocale((locale) => new Intl.ListFormat(locale, { type: "conjunction" }));
const collator = perLocale((locale) => new Intl.Collator(locale, { numeric: true, sensitivity: "base" }));
const languageNames = perLocale((locale) => new Intl.DisplayNames(locale, { type: "language" }));

/** The initials of a name. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words[words.length - 1] : undefined];
  return letters
    .map((word) => [...(word ?? "")][0] ?? "")
    .join("")
    .toUpperCase();
}

/** The first few names, and how many more there are. */
export function namesInLine(names: readonly string[], max = 3): string {
  const line = lineFormat().format(names.slice(0, max));
  return names.length <= max ? line : `${line} +${names.length - max}`;
}

/** Names inside a sentence: `Ana, Ben and Cleo`. */
export function namesInSentence(names: readonly string[]): string {
  return sentenceFormat().format(names);
}

/** Compares names for sorting, and numbers in them by their value. */
export function compareNames(a: string, b: string): number {
  return collator().compare(a, b);
}

/** The name of a language, such as "Portuguese (Brazil)" for pt-BR; the code itself where it has none. */
export function languageName(code: string): string {
  try {
    return languageNames().of(code) ?? code;
  } catch {
    // Not the form of a code, as other systems send it.
    return code;
  }
}
