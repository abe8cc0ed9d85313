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

/** The same in digits, for files: `2026-11-28 21:04 GMT+1`. */
export function sortableTime(at: Date, timeZone: string | null): string {
  const digits = { month: "2-digit", day: "2-digit", hour: "2-digit", hourCycle: "h23" } as const;
  const found = formatOf("en", timeZone, { ...parts, ...digits }).formatToParts(at);
  const of = (type: Intl.DateTimeFormatPartTypes): string =>
    found.find((part) => part.type === type)?.value ?? "";
  return `${of("year")}-${of("month")}-${of("day")} ${of("hour")}:${of("minute")} ${of("timeZoneName")}`;
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
