/** The language the texts in the code are in. */
export const sourceLanguage = "en";

/** The languages to choose from, in their own words. A language is here once all of its texts are translated. */
export const languages = { en: "English" } as const;

/**
 * The first wanted language that is offered: `de-AT` takes `de`.
 * @param wanted BCP 47 tags, the most wanted first.
 * @param offered tags as `languages` has them.
 */
export function chooseLanguage(
  wanted: readonly string[],
  offered: readonly string[] = Object.keys(languages),
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
