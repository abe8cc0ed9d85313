/** Languages whose names of months are recognized. */
const languages =
  "bg ca cs da de el en es et fi fr hr hu id is it lt lv nb nl pl pt ro ru sk sl sv tr uk vi".split(" ");

let months: ReadonlyMap<string, number> | null = null;

/**
 * The month that a word names, in any of these languages: 1 to 12.
 * @param word in lower case.
 * @returns undefined for other words, and for names of two different months in different languages.
 */
export function monthOf(word: string): number | undefined {
  // Not at start-up: the names of all languages take a while to read.
  months ??= readMonths();
  return months.get(word);
}

function readMonths(): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const ambiguous = new Set<string>();
  for (const language of languages)
    for (const options of [{ month: "long" }, { month: "long", day: "numeric" }] as const) {
      const format = new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" });
      for (let month = 1; month <= 12; month += 1) {
        const parts = format.formatToParts(Date.UTC(2024, month - 1, 15));
        const name = parts.find(({ type }) => type === "month")?.value.toLowerCase() ?? "";
        if (!/^\p{L}{3,}$/u.test(name)) continue;
        if ((found.get(name) ?? month) !== month) ambiguous.add(name);
        found.set(name, month);
      }
    }
  for (const name of ambiguous) found.delete(name);
  return found;
}
