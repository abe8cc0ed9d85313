import { monthOf } from "./month-names.ts";

interface NamedDate {
  /** null: not named. */
  readonly year: number | null;
  readonly month: number;
  readonly day: number;
}

/**
 * The date that a quote names, such as "5 December" or 2026-12-05; never one that would be a guess.
 * @param meetingStart a date without a year is the first one on or after it.
 * @returns as YYYY-MM-DD; null without a date, or with several.
 */
export function dueDateIn(quote: string, meetingStart: Date): string | null {
  const found = new Set<string>();
  for (const named of namedDates(quote)) {
    const date = toDate(named, meetingStart);
    if (date !== null) found.add(date);
  }
  const [only] = found;
  return found.size === 1 && only !== undefined ? only : null;
}

function* namedDates(quote: string): Generator<NamedDate> {
  const text = quote.normalize("NFKC").toLowerCase();
  for (const [, year, month, day] of text.matchAll(/(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)/g))
    yield { year: Number(year), month: Number(month), day: Number(day) };
  for (const [, day, month, year] of text.matchAll(/(?<![\d.])(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})(?!\d)/g))
    yield { year: Number(year), month: Number(month), day: Number(day) };
  for (const [, one, two, year] of text.matchAll(/(?<!\d)(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/g)) {
    const [first, second] = [Number(one), Number(two)];
    // Month and day are written in either order.
    if (first > 12 || first === second) yield { year: Number(year), month: second, day: first };
    else if (second > 12) yield { year: Number(year), month: first, day: second };
  }
  for (const [, year, month, day] of text.matchAll(
    /(?:(\d{4}) ?[年년] ?)?(?<!\d)(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]/g,
  ))
    yield { year: year === undefined ? null : Number(year), month: Number(month), day: Number(day) };
  // Words and numbers, so that a name stands beside its day: "5th of December 2026", "December 5, 2026".
  const words = text.match(/\d+|\p{L}+/gu) ?? [];
  for (const [index, word] of words.entries()) {
    const month = monthOf(word);
    if (month === undefined) continue;
    const named = dayBeside(words, index);
    if (named !== null) yield { ...named, month };
  }
}

/** Stands between a day and its month. */
const fillers = new Set(["st", "nd", "rd", "th", "of", "de", "d", "er", "º", "ª"]);

function dayBeside(words: readonly string[], at: number): { day: number; year: number | null } | null {
  const isYear = (word: string | undefined): boolean => /^(?:19|20)\d\d$/.test(word ?? "");
  const isDay = (word: string | undefined): boolean => /^(?:0?[1-9]|[12]\d|3[01])$/.test(word ?? "");
  let before = at - 1;
  while (fillers.has(words[before] ?? "")) before -= 1;
  let after = at + 1;
  while (fillers.has(words[after] ?? "")) after += 1;
  const yearOf = (word: string | undefined): number | null => (isYear(word) ? Number(word) : null);
  if (isDay(words[before])) return { day: Number(words[before]), year: yearOf(words[after]) };
  if (!isDay(words[after])) return null;
  let next = after + 1;
  while (fillers.has(words[next] ?? "")) next += 1;
  return { day: Number(words[after]), year: yearOf(words[next]) };
}

function toDate({ year, month, day }: NamedDate, meetingStart: Date): string | null {
  const inYear = (chosen: number): string | null => {
    const date = new Date(Date.UTC(chosen, month - 1, day));
    return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
      ? date.toISOString().slice(0, 10)
      : null;
  };
  if (year !== null) return year >= 1900 && year <= 2200 ? inYear(year) : null;
  const today = meetingStart.toISOString().slice(0, 10);
  const thisYear = inYear(meetingStart.getUTCFullYear());
  return thisYear !== null && thisYear >= today ? thisYear : inYear(meetingStart.getUTCFullYear() + 1);
}
