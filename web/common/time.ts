/** A length or a moment in milliseconds as people write it: `7:05`, `1:02:09`. */
export function clock(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1000));
  const seconds = String(total % 60).padStart(2, "0");
  const minutes = Math.floor(total / 60) % 60;
  const hours = Math.floor(total / 3600);
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
}

/** A length in words, for screen readers and details: `1 h 2 min`, `45 s`. */
export function lengthInWords(ms: number): string {
  const total = Math.round(ms / 1000);
  if (total < 60) return `${total} s`;
  const minutes = Math.round(total / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });
const dayAndYearFormat = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  year: "numeric",
});
const timeFormat = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });

/** A day as a list shows it, near ones by name. */
export function day(iso: string, now: Date = new Date()): string {
  const date = new Date(iso);
  const days = Math.round((startOfDay(now) - startOfDay(date)) / 86_400_000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return (date.getFullYear() === now.getFullYear() ? dayFormat : dayAndYearFormat).format(date);
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

export function timeOfDay(iso: string): string {
  return timeFormat.format(new Date(iso));
}

export function dayAndTime(iso: string): string {
  return `${day(iso)}, ${timeOfDay(iso)}`;
}

/** The same within a sentence: `today, 14:05`. */
export function whenInLine(iso: string): string {
  return dayAndTime(iso).replace(/^(Today|Yesterday)/, (word) => word.toLowerCase());
}

/** Everything about a moment, for a tooltip. */
export function fullTime(iso: string): string {
  return fullFormat.format(new Date(iso));
}
