import { monthOf } from "../intelligence/generate/month-names.ts";

/** A range of time: from its first moment to the first one after it. */
export interface DateRange {
  readonly from: Date;
  readonly to: Date;
}

/** A month alone is a date only after one of these: "may" and "mars" are other words too. */
const prepositions = new Set(["in", "im", "en", "em", "a", "nel", "since", "seit", "depuis"]);

const relative: readonly (readonly [RegExp, (now: Date) => DateRange])[] = [
  [/\b(?:today|heute|aujourd.hui|hoy|oggi|hoje|vandaag)\b/, (now) => days(now, 0, 1)],
  [/\b(?:yesterday|gestern|hier|ayer|ieri|ontem|gisteren)\b/, (now) => days(now, -1, 1)],
  [
    /\b(?:this week|diese woche|cette semaine|esta semana|questa settimana|deze week)\b/,
    (now) => days(now, -weekday(now), 7),
  ],
  [
    /\b(?:last week|letzte woche|semaine derni[eè]re|semana pasada|settimana scorsa|semana passada|vorige week)\b/,
    (now) => days(now, -weekday(now) - 7, 7),
  ],
  [
    /\b(?:this month|diesen monat|ce mois-ci|este mes|questo mese|este m[eê]s|deze maand)\b/,
    (now) => month(now.getUTCFullYear(), now.getUTCMonth()),
  ],
  [
    /\b(?:last month|letzten monat|mois dernier|mes pasado|mese scorso|m[eê]s passado|vorige maand)\b/,
    (now) => month(now.getUTCFullYear(), now.getUTCMonth() - 1),
  ],
];

/**
 * The dates that a question names, in UTC: from the first to the last of them.
 * @returns null without one that is certain.
 */
export function readDates(question: string, now: Date): DateRange | null {
  const text = question.normalize("NFC").toLowerCase();
  const ranges = [
    ...[...text.matchAll(/\b(\d{4})-(\d{2})-(\d{2})\b/g)].map(([, y, m, d]) =>
      day(Number(y), Number(m), Number(d)),
    ),
    ...[...text.matchAll(/\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b/g)].map(([, d, m, y]) =>
      day(Number(y), Number(m), Number(d)),
    ),
    ...relative.flatMap(([words, range]) => (words.test(text) ? [range(now)] : [])),
    ...namedMonths(text, now),
  ].filter((range) => range !== null);
  if (ranges.length === 0) return null;
  return {
    from: new Date(Math.min(...ranges.map(({ from }) => from.getTime()))),
    to: new Date(Math.max(...ranges.map(({ to }) => to.getTime()))),
  };
}

/** "in March", "March 2026", "14 March", "March 14", "14 de marzo de 2026". Without a year the last one that was. */
function namedMonths(text: string, now: Date): (DateRange | null)[] {
  const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word !== "de" && word !== "of");
  return words.flatMap((word, at) => {
    const named = monthOf(word);
    if (named === undefined) return [];
    const found = named - 1;
    const [before = "", after = "", afterNext = ""] = [words[at - 1], words[at + 1], words[at + 2]];
    const dayNumber = [before, after]
      .map((near) => Number(/^(\d{1,2})(?:st|nd|rd|th|er)?$/.exec(near)?.[1]))
      .find((number) => number >= 1 && number <= 31);
    const year = [after, afterNext].find((near) => /^(?:19|20)\d\d$/.test(near));
    if (year === undefined && dayNumber === undefined && !prepositions.has(before)) return [];
    const isPast = Date.UTC(now.getUTCFullYear(), found, dayNumber ?? 1) <= now.getTime();
    const inYear = year === undefined ? now.getUTCFullYear() - (isPast ? 0 : 1) : Number(year);
    return [dayNumber === undefined ? month(inYear, found) : day(inYear, found + 1, dayNumber)];
  });
}

function day(year: number, monthNumber: number, number: number): DateRange | null {
  const from = new Date(Date.UTC(year, monthNumber - 1, number));
  const exists = from.getUTCMonth() === monthNumber - 1 && from.getUTCDate() === number;
  return exists ? days(from, 0, 1) : null;
}

function days(now: Date, first: number, count: number): DateRange {
  const at = (offset: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + offset));
  return { from: at(first), to: at(first + count) };
}

function month(year: number, number: number): DateRange {
  return { from: new Date(Date.UTC(year, number, 1)), to: new Date(Date.UTC(year, number + 1, 1)) };
}

/** Days since Monday. */
function weekday(now: Date): number {
  return (now.getUTCDay() + 6) % 7;
}
