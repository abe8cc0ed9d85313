/**
 * A time in emails and messages, in the reader's time zone, which it names: `28 November 2026 at 21:04 CET`.
 * @param timeZone null, or not known to this server: UTC.
 */
export function writtenTime(language: string, at: Date, timeZone: string | null): string {
  // Emails in ASCII alone are sent unencoded.
  return formatOf(language, timeZone, { ...parts, month: "long", day: "numeric", hour: "numeric" })
    .format(at)
    .replaceAll("\u202f", " ");
}

/** The same in digits and UTC, for exported files: `2026-11-28 21:04 UTC`. */
export function sortableTime(at: Date): string {
  const of = digitsOf(at, null, parts);
  return `${of("year")}-${of("month")}-${of("day")} ${of("hour")}:${of("minute")} ${of("timeZoneName")}`;
}

/** The same for programs, as RFC 3339 writes it: `2026-11-28T21:04:00+01:00`. */
export function localTime(at: Date, timeZone: string | null): string {
  const of = digitsOf(at, timeZone, { ...parts, second: "2-digit", timeZoneName: "longOffset" });
  const offset = of("timeZoneName").replace("GMT", "") || "Z";
  return `${of("year")}-${of("month")}-${of("day")}T${of("hour")}:${of("minute")}:${of("second")}${offset}`;
}

function digitsOf(
  at: Date,
  timeZone: string | null,
  options: Intl.DateTimeFormatOptions,
): (type: Intl.DateTimeFormatPartTypes) => string {
  const digits = { month: "2-digit", day: "2-digit", hour: "2-digit", hourCycle: "h23" } as const;
  const found = formatOf("en", timeZone, { ...options, ...digits }).formatToParts(at);
  return (type) => found.find((part) => part.type === type)?.value ?? "";
}

const parts = { year: "numeric", minute: "2-digit", timeZoneName: "short" } as const;

function formatOf(
  language: string,
  timeZone: string | null,
  options: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(language, { ...options, timeZone: timeZone ?? "UTC" });
  } catch (error) {
    // The database of time zones of another process, which accepted it, may be newer.
    if (timeZone !== null && error instanceof RangeError) return formatOf(language, null, options);
    throw error;
  }
}
