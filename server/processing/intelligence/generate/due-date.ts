import { monthOf } from "./month-names.ts";

interface NamedDate {
  /** null: not named. */
  readonly year: number | null;
  readonly month: number;
  readonly day: number;
  /** Whether it may be no date: "option 5 may work". */
  readonly isDoubtful?: boolean;
}

/**
 * The date that a quote names, such as "5 December" or 2026-12-05; never one that would be a guess.
 * @param meetingStart a date without a year is the first one on or after it.
 * @param spoken the words of the transcript in which the quote stands. They must name the date too: a model may quote
 * 5/12/2026, which is two dates, as 5.12.2026.
 * @returns as YYYY-MM-DD; null without a date, or with several.
 */
export function dueDateIn(quote: string, meetingStart: Date, spoken: string): string | null {
  const quoted = datesIn(quote, meetingStart);
  const [only] = quoted.keys();
  return quoted.size === 1 && only !== undefined && datesIn(spoken, meetingStart).get(only) === true
    ? only
    : null;
}

/** The dates that a text names, each with whether it is surely one. */
function datesIn(text: string, meetingStart: Date): Map<string, boolean> {
  const found = new Map<string, boolean>();
  for (const named of namedDates(text)) {
    const date = toDate(named, meetingStart);
    if (date !== null) found.set(date, found.get(date) === true || named.isDoubtful !== true);
  }
  return found;
}

function* namedDates(quote: string): Generator<NamedDate> {
  const asSpoken = quote.normalize("NFKC");
  const text = asSpoken.toLowerCase();
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
  const words = [...asSpoken.matchAll(/\d+|\p{L}+/gu)].map(({ 0: word, index }, place, all) => {
    const previous = all[place - 1];
    const end = previous === undefined ? 0 : previous.index + previous[0].length;
    return { word, key: word.toLowerCase(), endsBefore: /[.!?;:。！？]/u.test(asSpoken.slice(end, index)) };
  });
  for (const [place, { word, key }] of words.entries()) {
    const month = monthOf(key);
    if (month === undefined) continue;
    const named = dayBeside(words, place);
    if (named !== null) yield { ...named, month, isDoubtful: isVerb(word, named) };
  }
}

interface Word {
  readonly word: string;
  /** In lower case. */
  readonly key: string;
  /** Whether a sentence may end before it. */
  readonly endsBefore: boolean;
}

interface DayBeside {
  readonly day: number;
  readonly year: number | null;
  /** Whether a word says that it is a date: `5th`, `of`. */
  readonly isMarked: boolean;
  /** Whether a sentence may end between day and month. */
  readonly isDivided: boolean;
}

/** "Option 5 may work", "we march 12 miles", "option 5. May I go?": months that are other words too. */
function isVerb(word: string, { year, isMarked, isDivided }: DayBeside): boolean {
  if (!/^(?:march|may)$/i.test(word)) return false;
  return isDivided || (word === word.toLowerCase() && !isMarked && year === null);
}

/** Stands between a day and its month. */
const fillers = new Set(["st", "nd", "rd", "th", "of", "de", "d", "er", "º", "ª"]);

function dayBeside(words: readonly Word[], at: number): DayBeside | null {
  const isYear = (word: Word | undefined): boolean => /^(?:19|20)\d\d$/.test(word?.key ?? "");
  const isDay = (word: Word | undefined): boolean => /^(?:0?[1-9]|[12]\d|3[01])$/.test(word?.key ?? "");
  const isFiller = (word: Word | undefined): boolean => fillers.has(word?.key ?? "");
  const yearOf = (word: Word | undefined): number | null => (isYear(word) ? Number(word?.key) : null);
  let before = at - 1;
  while (isFiller(words[before])) before -= 1;
  let after = at + 1;
  while (isFiller(words[after])) after += 1;
  if (isDay(words[before]))
    return {
      day: Number(words[before]?.key),
      year: yearOf(words[after]),
      isMarked: before < at - 1,
      isDivided: words[at]?.endsBefore === true,
    };
  // "until December. 20 people": another sentence.
  if (!isDay(words[after]) || words[after]?.endsBefore === true) return null;
  let next = after + 1;
  while (isFiller(words[next])) next += 1;
  return {
    day: Number(words[after]?.key),
    year: yearOf(words[next]),
    isMarked: next > after + 1 || after > at + 1,
    isDivided: false,
  };
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
