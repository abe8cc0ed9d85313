/**
 * Hours, minutes, seconds and a fraction, as far as they are there; blanks around the colons are errors of translators. In
 * `.sbv`, what follows the comma may be the next time.
 */
const clock =
  /^\s*(-?)(\d{1,9})(?: ?: ?(\d{1,9}))?(?: ?: ?(\d{1,9}))?(?: ?: ?(\d{1,9}))?(?: ?([.,]) ?(\d{0,9})(?![\d:]))?/;

/** A time at the start of a text, in milliseconds, and the length of its text; null: there is none. */
export function readClock(text: string): { ms: number; length: number } | null {
  const found = clock.exec(text);
  if (found === null) return null;
  const [whole, sign, first, second, third, fourth, point, decimals] = found;
  if (second === undefined && point === undefined) return null;
  const parts = [first, second, third, fourth].filter((part) => part !== undefined);
  // A colon before the milliseconds.
  const hasFraction = parts.length === 4 || (parts.length === 3 && (third ?? "").length > 2);
  const fraction = hasFraction ? parts.pop() : decimals;
  const seconds = parts.reduce((total, part) => total * 60 + Number(part), 0);
  const ms = seconds * 1000 + Math.round(Number(`0.${fraction || "0"}`) * 1000);
  return { ms: sign === "-" ? -ms : ms, length: whole.length };
}

/** A line with the times of a cue. */
export interface Timing {
  readonly start: number;
  readonly end: number;
  /** What follows them, if it is text and not settings. */
  readonly rest: string;
}

/** Between the times of a cue, as programs and translators write it; a comma in `.sbv`. */
const arrow = /^(?:-{1,3}>|[–—]>|→|,)/;

const setting = /^(?:vertical|line|position|size|align|region|[xy][12])\s?:/i;

/**
 * Reads `time --> time`; null: the line is another.
 * @param isLoose also reads other arrows, and a comma as in `.sbv`, between times with colons: other numbers beside them are
 *   a part of a sentence.
 */
export function readTiming(line: string, isLoose: boolean): Timing | null {
  const start = readClock(line);
  if (start === null) return null;
  const middle = line.slice(start.length, start.length + 20).trimStart();
  const between = arrow.exec(middle)?.[0];
  if (between === undefined) return null;
  const after = line.slice(line.indexOf(between, start.length) + between.length);
  const end = readClock(after);
  if (end === null) return null;
  if (!between.endsWith("->")) {
    const times = [line.slice(0, start.length), after.slice(0, end.length)];
    if (!isLoose || times.some((time) => !time.includes(":"))) return null;
  }
  const rest = after.slice(end.length).trim();
  return { start: start.ms, end: end.ms, rest: setting.test(rest) ? "" : rest };
}

/** Whether a line was meant to have the times of a cue: an arrow beside something like a time. */
export function isBrokenTiming(line: string): boolean {
  const at = line.indexOf("-->");
  if (at === -1 || line.length > 200) return false;
  const [before, after] = [line.slice(0, at).trim(), line.slice(at + 3).trim()];
  const isTime = /\d\s?[:.,]\s?\S?\d/;
  return isTime.test(before) || isTime.test(after);
}
