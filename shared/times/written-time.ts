/*
 * Times as people and programs write them in names of files and in lists. The strict form of the API is in timestamp.ts.
 */

/** A day without a time zone. */
export interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** How a list writes dates such as 03/04/2026. */
export type DateOrder = "day-first" | "month-first";

/** A time, in ms since 1970, and whether it states no zone, or what is wrong with the text and what to write instead. */
export type WrittenTimeResult =
  | { readonly at: number; readonly isLocal: boolean }
  | { readonly problem: string };

export interface TimeOptions {
  /** Time zone of times without one, such as Europe/Berlin; undefined: that of this machine. */
  readonly timeZone?: string | undefined;
  /** Undefined or null: dates such as 03/04/2026 are refused. */
  readonly order?: DateOrder | null | undefined;
}

/** Longer than any date and time; bounds the work per input. */
const maxLength = 100;

/** Hours before or after UTC. Abbreviations that name several zones are left out. */
const zones: Readonly<Record<string, number>> = {
  Z: 0,
  UTC: 0,
  GMT: 0,
  WET: 0,
  WEST: 1,
  CET: 1,
  CEST: 2,
  EET: 2,
  EEST: 3,
  MSK: 3,
  JST: 9,
  KST: 9,
  AEST: 10,
  AEDT: 11,
  NZST: 12,
  NZDT: 13,
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
};

/** `10:15`, `10.15.22`, `10h15`, `101522`, `10:15:22.123`, `10:15 AM`. */
const clockPattern =
  /([0-2]?\d)([-_.:h]?)([0-5]\d)(?:[-_.:]?([0-5]\d)(?:[.,](\d{1,9})|(\d{3})(?!\d))?)?(?:[ \u00a0\u202f]?([AP])\.?M\.?(?![a-z]))?(?!\d)/iy;

/** `Z`, ` CET`, ` GMT+1`, ` (UTC)`, `+0100`, `+01-00`, ` -03:30`. */
const zonePattern =
  /[ _]?\(?(?:(Z|UTC|GMT|WES?T|CES?T|EES?T|MSK|JST|KST|AE[SD]T|NZ[SD]T|E[SD]T|C[SD]T|M[SD]T|P[SD]T)(?![a-z])([+-]\d{1,2}(?:[:_.]?\d\d)?)?|(\+\d\d(?:[:_.-]?\d\d)?|-\d\d(?:[:_.]?\d\d)?))(?!\d)\)?/iy;

/**
 * The time of day that stands at a position of a text, on a day.
 * @param inName whether words and numbers may follow that are no time zone, as in names of files.
 * @returns the time and where it ends; undefined: there is none.
 */
export function readClock(
  text: string,
  from: number,
  { year, month, day }: CalendarDay,
  { timeZone, inName }: { readonly timeZone: string | undefined; readonly inName: boolean },
): { readonly at: number; readonly isLocal: boolean; readonly end: number } | undefined {
  clockPattern.lastIndex = from;
  const clock = clockPattern.exec(text);
  if (clock === null) return undefined;
  const [whole, hour, colon, minute, second, fraction = "0", digits = fraction, half] = clock;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  if (hours > 23 || (half !== undefined && Number(hour) > 12)) return undefined;
  const utc =
    dayStart({ year, month, day }) +
    hours * 3_600_000 +
    Number(minute) * 60_000 +
    Number(second ?? 0) * 1000 +
    Math.floor(Number(`0.${digits}`) * 1000);
  const end = from + whole.length;
  zonePattern.lastIndex = end;
  const zone = zonePattern.exec(text);
  const offsetMs = zone === null ? null : offsetOfZone(zone);
  // In names `-0815` may be another number, and `1015-1130` the end of a meeting.
  const isOffset = !inName || !zone?.[3]?.startsWith("-") || colon === ":" || isSure(zone[3], second);
  if (zone !== null && offsetMs !== null && isOffset)
    return { at: utc - offsetMs, isLocal: false, end: end + zone[0].length };
  const at = fromLocal(utc, timeZone);
  return at === undefined ? undefined : { at, isLocal: true, end };
}

function isSure(offset: string, second: string | undefined): boolean {
  return second !== undefined && offset.length > 3;
}

/** The start of a day in UTC, in ms since 1970. */
function dayStart({ year, month, day }: CalendarDay): number {
  return Date.UTC(year, month - 1, day);
}

/** Whether a date is in the calendar: not 31 February. */
export function isDay({ year, month, day }: CalendarDay): boolean {
  const date = new Date(dayStart({ year, month, day }));
  // JavaScript takes the years 0 to 99 for 1900 to 1999.
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** @returns null: no zone has this offset. */
function offsetOfZone([, name, after, offset = after ?? "+00"]: RegExpExecArray): number | null {
  const ms = offsetMsOf(offset);
  if (name === undefined) return ms;
  return (zones[name.toUpperCase()] ?? 0) * 3_600_000 + (ms ?? 0);
}

/** The ms of an offset such as +5, +0530, -3:30 or +5_30; null: no zone has it. */
function offsetMsOf(offset: string): number | null {
  const [, hours = "0", minutes = "0"] = /^[+-](\d\d?)(?:[:_.-]?(\d\d))?$/.exec(offset) ?? [];
  if (Number(hours) > 14 || !["0", "00", "15", "30", "45"].includes(minutes)) return null;
  return (offset.startsWith("-") ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** A local time, given as if it were UTC, in ms since 1970; undefined: there is no such time zone. */
function fromLocal(local: number, timeZone: string | undefined): number | undefined {
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
    // Twice, because the offset of the first guess may be that of the other side of a clock change.
    const guess = local - offsetOf(format, local);
    return local - offsetOf(format, guess);
  } catch {
    return undefined;
  }
}

/** The offset from UTC at a time, in ms. */
function offsetOf(format: Intl.DateTimeFormat, at: number): number {
  const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
  if (sign === undefined) return 0;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

const yearFirst = /^(\d{4})(?:([-/._])(\d\d?)\2(\d\d?)|(\d\d)(\d\d))(?!\d)/;
const numeric = /^(\d\d?)([-/.])(\d\d?)\2(\d{4})(?!\d)/;
const weekday = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? /i;
const dayOfMonth = /^(\d\d?)(?:st|nd|rd|th|\.)?[ -]([a-z]{3,9})\.?,?[ -](\d{4})(?!\d)/i;
const monthOfDay = /^([a-z]{3,9})\.? (\d\d?)(?:st|nd|rd|th)?,? (\d{4})(?!\d)/i;
const beforeClock = /^(?:T|,? at |,? )/i;

const monthNames = [
  ...["january", "february", "march", "april", "may", "june"],
  ...["july", "august", "september", "october", "november", "december"],
];

/** The number of an English month by its name or the beginning of it; 0: it is none. */
function monthOf(name: string): number {
  return monthNames.findIndex((month) => month.startsWith(name.toLowerCase())) + 1;
}

/**
 * Reads a time that a list or another program's export states: an ISO 8601 date with or without time and zone, a date with
 * an English month, a date in the list's order of day and month, or seconds or milliseconds since 1970.
 */
export function readWrittenTime(text: string, { timeZone, order }: TimeOptions = {}): WrittenTimeResult {
  const written = text.trim().replaceAll(/\s+/g, " ");
  if (/^\d{10}(?:\.\d{1,9})?$/.test(written))
    return { at: Math.floor(Number(written) * 1000), isLocal: false };
  if (/^\d{13}$/.test(written)) return { at: Number(written), isLocal: false };
  if (written.length > maxLength) return { problem: `has more than ${maxLength} characters` };
  const isUnclear = isAmbiguous(written) && !order;
  const found = findDay(written, order ?? "day-first");
  if (found === null) return { problem: problemOf(written) };
  const rest = written.slice(found.length);
  const start = beforeClock.exec(rest)?.[0].length ?? 0;
  const clock =
    rest === ""
      ? readClock("0:00", 0, found.day, { timeZone, inName: false })
      : start === 0
        ? undefined
        : readClock(rest, start, found.day, { timeZone, inName: false });
  // JavaScript writes the name of the zone behind its offset.
  const isRead = clock !== undefined && (rest === "" || /^(?: \([^()]*\))?$/.test(rest.slice(clock.end)));
  if (!isRead) return { problem: problemOf(written) };
  if (!isUnclear) return { at: clock.at, isLocal: clock.isLocal };
  const iso = (month: number, day: number) =>
    `${found.day.year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
  const { month, day } = found.day;
  return {
    problem: `can be ${iso(month, day)} or ${iso(day, month)}, and no other date of the list shows the order of day and month; write it as ${iso(month, day)}T10:15:00`,
  };
}

function problemOf(written: string): string {
  const isDate = yearFirst.test(written) || numeric.test(written);
  return `is ${isDate ? "no date and time that exist" : "not a date"}; write it as 2026-10-05T14:30:00, with Z or +02:00 at its end for another time zone`;
}

/** The date at the beginning of a text. */
function findDay(text: string, order: DateOrder): { day: CalendarDay; length: number } | null {
  const checked = (length: number, year?: string, month?: string | number, day?: string) => {
    const found = { year: Number(year), month: Number(month), day: Number(day) };
    return isDay(found) ? { day: found, length } : null;
  };
  const iso = yearFirst.exec(text);
  if (iso !== null) return checked(iso[0].length, iso[1], iso[3] ?? iso[5], iso[4] ?? iso[6]);
  const pair = numeric.exec(text);
  if (pair !== null) {
    const [whole, first = "", , second = "", year] = pair;
    const isDayFirst = orderOf(text) === null ? order === "day-first" : orderOf(text) === "day-first";
    return isDayFirst
      ? checked(whole.length, year, second, first)
      : checked(whole.length, year, first, second);
  }
  const skipped = weekday.exec(text)?.[0].length ?? 0;
  const rest = text.slice(skipped);
  const [byDay, byMonth] = [dayOfMonth.exec(rest), monthOfDay.exec(rest)];
  if (byDay !== null) return checked(skipped + byDay[0].length, byDay[3], monthOf(byDay[2] ?? ""), byDay[1]);
  if (byMonth !== null)
    return checked(skipped + byMonth[0].length, byMonth[3], monthOf(byMonth[1] ?? ""), byMonth[2]);
  return null;
}

/** The order that a date alone proves: no month has the number 15, and dots always stand behind the day. */
function orderOf(text: string): DateOrder | null {
  const [, first, separator, second] = numeric.exec(text.trim()) ?? [];
  if (Number(first) > 12 && Number(second) > 12) return null;
  if (separator === "." || Number(first) > 12) return "day-first";
  return Number(second) > 12 ? "month-first" : null;
}

/** Whether a date reads differently by its order. */
function isAmbiguous(text: string): boolean {
  const [, first, , second] = numeric.exec(text) ?? [];
  return first !== undefined && Number(first) !== Number(second) && orderOf(text) === null;
}

/** The order of day and month of a list, by all its dates; null: they don't tell, or contradict each other. */
export function dateOrderOf(texts: Iterable<string>): DateOrder | null {
  const found = new Set<DateOrder>();
  for (const text of texts) {
    const order = orderOf(text);
    if (order !== null) found.add(order);
  }
  const [order = null] = found;
  return found.size === 1 ? order : null;
}
