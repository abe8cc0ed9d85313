import { t } from "@lingui/core/macro";
import { perLocale } from "./locale.ts";

/** Splits every duration, so that all formats round alike. */
function partsOf(ms: number): { hours: number; minutes: number; seconds: number } {
  const total = Math.max(0, Math.floor(ms / 1000));
  return { hours: Math.floor(total / 3600), minutes: Math.floor(total / 60) % 60, seconds: total % 60 };
}

const twoDigits = (value: number): string => String(value).padStart(2, "0");

/** Milliseconds as a clock: `7:05`, `1:02:09`. */
export function clock(ms: number): string {
  const { hours, minutes, seconds } = partsOf(ms);
  return hours > 0
    ? `${hours}:${twoDigits(minutes)}:${twoDigits(seconds)}`
    : `${minutes}:${twoDigits(seconds)}`;
}

/** Milliseconds in words: `less than 1 s`, `45 s`, `45 min 30 s`, `1 h 2 min`. */
export function lengthInWords(ms: number): string {
  const { hours, minutes, seconds } = partsOf(ms);
  if (hours > 0) return minutes > 0 ? t`${hours} h ${minutes} min` : t`${hours} h`;
  if (minutes > 0) return seconds > 0 ? t`${minutes} min ${seconds} s` : t`${minutes} min`;
  return seconds > 0 || ms <= 0 ? t`${seconds} s` : t`less than 1 s`;
}

const formats = perLocale((locale) => {
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options);
  const time = { hour: "numeric", minute: "2-digit" } as const;
  const date = { weekday: "short", day: "numeric", month: "short" } as const;
  const dateAndYear = { day: "numeric", month: "short", year: "numeric" } as const;
  return {
    time: format({ timeStyle: "short" }),
    date: format(date),
    dateTime: format({ ...date, ...time }),
    dateAndYear: format(dateAndYear),
    dateAndYearTime: format({ ...dateAndYear, ...time }),
    medium: format({ dateStyle: "medium", timeStyle: "short" }),
    full: format({ dateStyle: "full", timeStyle: "short" }),
  };
});

/** A date for lists: `Today`, `Yesterday`, or a short date. */
export function day(iso: string, now: Date = new Date()): string {
  const date = new Date(iso);
  const days = daysBefore(date, now);
  if (days === 0) return t`Today`;
  if (days === 1) return t`Yesterday`;
  return (isSameYear(date, now) ? formats().date : formats().dateAndYear).format(date);
}

/** How many days ago a date was, by the calendar. */
function daysBefore(date: Date, now: Date): number {
  return Math.round((startOfDay(now) - startOfDay(date)) / 86_400_000);
}

function isSameYear(date: Date, now: Date): boolean {
  return date.getFullYear() === now.getFullYear();
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** The local day as `YYYY-MM-DD`. */
export function dateOf(date: Date): string {
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

export function timeOfDay(iso: string): string {
  return formats().time.format(new Date(iso));
}

/** A date and time that stand alone: `Today, 14:05`, or a short date and the time. */
export function dayAndTime(iso: string): string {
  const time = timeOfDay(iso);
  const days = daysBefore(new Date(iso), new Date());
  if (days === 0) return t`Today, ${time}`;
  if (days === 1) return t`Yesterday, ${time}`;
  return dateAndTime(iso);
}

/** Date and time inside a sentence: `today, 14:05`. */
export function whenInLine(iso: string): string {
  const time = timeOfDay(iso);
  const days = daysBefore(new Date(iso), new Date());
  if (days === 0) return t`today, ${time}`;
  if (days === 1) return t`yesterday, ${time}`;
  return dateAndTime(iso);
}

/** A date inside a sentence: `today`. */
export function dayInLine(iso: string): string {
  const date = new Date(iso);
  const days = daysBefore(date, new Date());
  if (days === 0) return t`today`;
  if (days === 1) return t`yesterday`;
  return (isSameYear(date, new Date()) ? formats().date : formats().dateAndYear).format(date);
}

function dateAndTime(iso: string): string {
  const date = new Date(iso);
  return (isSameYear(date, new Date()) ? formats().dateTime : formats().dateAndYearTime).format(date);
}

/** A date whose year matters: `28 Nov 2026`. */
export function shortDate(date: Date): string {
  return formats().dateAndYear.format(date);
}

/** A date and time whose year matters: `28 Nov 2026, 14:05`. */
export function dateTime(date: Date): string {
  return formats().medium.format(date);
}

/** Full date and time, for tooltips. */
export function fullTime(iso: string): string {
  return formats().full.format(new Date(iso));
}
