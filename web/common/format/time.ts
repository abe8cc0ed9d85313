import { t } from "@lingui/core/macro";

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
  const all = [
    [hours, "h"],
    [minutes, "min"],
    [hours > 0 ? 0 : seconds, "s"],
  ] as const;
  const words = all.flatMap(([value, unit]) => (value > 0 ? `${value} ${unit}` : [])).join(" ");
  return words === "" ? (ms > 0 ? t`less than 1 s` : "0 s") : words;
}

const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });
const dayAndYearFormat = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  year: "numeric",
});
const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });

/** A date for lists: `Today`, `Yesterday`, or a short date. */
export function day(iso: string, now: Date = new Date()): string {
  const date = new Date(iso);
  const days = Math.round((startOfDay(now) - startOfDay(date)) / 86_400_000);
  if (days === 0) return t`Today`;
  if (days === 1) return t`Yesterday`;
  return (date.getFullYear() === now.getFullYear() ? dayFormat : dayAndYearFormat).format(date);
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** The local day as `YYYY-MM-DD`. */
export function dateOf(date: Date): string {
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

export function timeOfDay(iso: string): string {
  return timeFormat.format(new Date(iso));
}

export function dayAndTime(iso: string): string {
  return `${day(iso)}, ${timeOfDay(iso)}`;
}

/** Date and time inside a sentence: `today, 14:05`. */
export function whenInLine(iso: string): string {
  return dayAndTime(iso).replace(/^(Today|Yesterday)/, (word) => word.toLowerCase());
}

/** Full date and time, for tooltips. */
export function fullTime(iso: string): string {
  return fullFormat.format(new Date(iso));
}
