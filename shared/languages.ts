/** The language the texts in the code are in. */
export const sourceLanguage = "en";

/** The languages to choose from, in their own words. A language is here once all of its texts are translated. */
export const languages = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  ja: "日本語",
} as const;

/** Languages for tests, made from the English texts: longer and with accents, and from right to left. */
const pseudoLanguages = ["en-XA", "ar-XB"] as const;

/** Every language that there are texts in, as `chooseLanguage` returns it. */
export const knownLanguages: readonly string[] = [...Object.keys(languages), ...pseudoLanguages];

/**
 * The first wanted language that is offered: `de-AT` takes `de`.
 * @param wanted BCP 47 tags, the most wanted first.
 * @param offered tags as `languages` has them.
 */
export function chooseLanguage(
  wanted: readonly string[],
  offered: readonly string[] = knownLanguages,
): string {
  for (const tag of wanted) {
    const lower = tag.toLowerCase();
    const found =
      offered.find((each) => each.toLowerCase() === lower) ??
      offered.find((each) => lower.startsWith(`${each}-`));
    if (found !== undefined) return found;
  }
  return sourceLanguage;
}

/** Where the lines of a language begin, as the attribute `dir` says it. */
export function directionOf(language: string): "ltr" | "rtl" {
  return language.startsWith("ar") ? "rtl" : "ltr";
}
