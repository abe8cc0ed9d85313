/** The instant, or what is wrong with the text and what to send instead. */
export type TimestampResult = { readonly instant: Date } | { readonly problem: string };

const example = "2026-10-05T14:30:00Z";
const earliestMs = Date.parse("0001-01-01T00:00:00Z");
const latestMs = Date.parse("9999-12-31T23:59:59.999Z");
const hourMs = 3_600_000;
const minuteMs = 60_000;
const secondMs = 1000;

/** Longer than any real timestamp; bounds the work per input. */
const maxLength = 64;

/**
 * ISO 8601 calendar date, optionally with a time and an offset. The back references keep the separators of the date,
 * and those of the time, either all present (extended format) or all absent (basic format).
 */
const calendarPattern =
  /^(?<year>\d{4})(?<dash>-?)(?<month>\d\d)\k<dash>(?<day>\d\d)(?:T(?<hour>\d\d)(?:(?<colon>:?)(?<minute>\d\d)(?:\k<colon>(?<second>\d\d))?)?(?:[.,](?<fraction>\d+))?(?:Z|(?<sign>[+-])(?<offsetHour>\d\d)(?::?(?<offsetMinute>\d\d))?)?)?$/;

const weekDatePattern = /^\d{4}-?W\d\d/;
const ordinalDatePattern = /^\d{4}-?\d{3}(?:T|$)/;

/**
 * Parses an ISO 8601 calendar date or date-time in basic or extended format; UTC if there is no offset. A fraction, after
 * a point or a comma, belongs to the last unit given and is truncated to milliseconds.
 */
export function readTimestamp(text: string): TimestampResult {
  if (text.length > maxLength) return { problem: `must have at most ${maxLength} characters` };
  const upper = text.toUpperCase();
  const parts = calendarPattern.exec(upper)?.groups;
  if (parts === undefined) return { problem: describeOtherForm(upper) };
  const field = (name: string): number => Number(parts[name] ?? 0);

  const [year, month, day] = [field("year"), field("month"), field("day")];
  const [hour, minute, second] = [field("hour"), field("minute"), field("second")];
  if (!isCalendarDate(year, month, day))
    return { problem: `must be a date that exists, such as ${example.slice(0, 10)}` };
  if (hour === 24) return { problem: "must not use hour 24; write 00:00 of the next day" };
  if (second === 60)
    return { problem: "must not be a leap second; write second 59, or 00 of the next minute" };
  if (hour > 23 || minute > 59 || second > 59)
    return { problem: `must have a time between 00:00:00 and 23:59:59.999, such as ${example}` };
  if (field("offsetHour") > 23 || field("offsetMinute") > 59)
    return { problem: "must have an offset between -23:59 and +23:59, or Z for UTC" };

  const date = new Date(0);
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  const offsetMs = field("offsetHour") * hourMs + field("offsetMinute") * minuteMs;
  const instantMs =
    date.getTime() +
    hour * hourMs +
    minute * minuteMs +
    second * secondMs +
    fractionMs(parts) -
    (parts.sign === "-" ? -offsetMs : offsetMs);
  if (instantMs < earliestMs || instantMs > latestMs)
    return { problem: "must be within the years 1 to 9999 (UTC)" };
  return { instant: new Date(instantMs) };
}

/**
 * Parses a timestamp like `readTimestamp`.
 * @returns the instant, or null if the text is not a valid timestamp.
 */
export function parseTimestamp(text: string): Date | null {
  const result = readTimestamp(text);
  return "instant" in result ? result.instant : null;
}

function isCalendarDate(year: number, month: number, day: number): boolean {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return month >= 1 && month <= 12 && day >= 1 && day <= days;
}

/** The fraction in whole milliseconds. Integer arithmetic, so that .57 s is 570 ms. */
function fractionMs({ minute, second, fraction }: Readonly<Record<string, string | undefined>>): number {
  if (fraction === undefined) return 0;
  const unitMs = second !== undefined ? secondMs : minute !== undefined ? minuteMs : hourMs;
  return Math.floor((Number(fraction.slice(0, 9).padEnd(9, "0")) * unitMs) / 1e9);
}

function describeOtherForm(text: string): string {
  if (weekDatePattern.test(text)) return `must be a calendar date, not a week date; for example ${example}`;
  if (ordinalDatePattern.test(text))
    return `must be a calendar date, not a day of the year; for example ${example}`;
  // A plus sign in a query string arrives as a space.
  if (/ \d\d:?(?:\d\d)?$/.test(text) && text.includes("T"))
    return "must not contain a space; write the + of an offset as %2B in a URL";
  return `must be an ISO 8601 timestamp, such as ${example}`;
}
