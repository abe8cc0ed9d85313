/** Longer than any file system allows. */
const maxNameLength = 1000;

/**
 * A date and a time of day in the name of a recording, as these programs write them: Zoom (`GMT20260304-101522_Recording`,
 * folders `2026-03-04 10.15.22 Topic`), Meet (`Topic - 2026_03_04 10_15 CET - Recording`, `(2026-03-04 at 10:15 GMT+1)`),
 * Teams (`Topic-20260304_101522UTC-Meeting Recording`), OBS (`2026-03-04 10-15-22`), macOS (`2026-03-04 at 10.15.22 AM`) and
 * phones (`VID_20260304_101522`, `PXL_20260304_101522123`, in UTC).
 */
// Bounded: names are cut to `maxNameLength`, and every repetition has a limit.
const pattern =
  /(GMT|PXL_)?(?<![0-9])(20\d\d)[-_./]?([01]\d)[-_./]?([0-3]\d)(?: at |[ T_-]{1,3})([0-2]?\d)[-_.:h]?([0-5]\d)(?:[-_.:]?([0-5]\d)(?:\d{3})?)?(?:[ \u00a0\u202f]?(AM|PM))?(?![0-9])(?: ?(UTC|GMT|CEST|CET|EST|EDT|CST|CDT|MST|MDT|PST|PDT)([+-]\d{1,2}(?:[:_]\d\d)?)?)?/i;

/** Hours before or after UTC. Abbreviations that name several zones are left out. */
const zones: Readonly<Record<string, number>> = {
  UTC: 0,
  GMT: 0,
  CET: 1,
  CEST: 2,
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
};

/**
 * The time in a file's name or path, in ms since 1970.
 * @param timeZone of times without a zone, such as Europe/Berlin; absent: that of this machine.
 */
export function timeInName(name: string, timeZone?: string): number | undefined {
  const found = pattern.exec(name.slice(-maxNameLength));
  if (found === null) return undefined;
  const [, prefix, year, month, day, hour, minute, second = "0", half, zone, offset] = found;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/pm/i.test(half) ? 12 : 0);
  const utc = Date.UTC(Number(year), Number(month) - 1, Number(day), hours, Number(minute), Number(second));
  // A date such as 31 February moved to another month.
  if (new Date(utc).getUTCMonth() !== Number(month) - 1 || hours > 23) return undefined;
  if (prefix !== undefined) return utc;
  if (zone !== undefined) return utc - ((zones[zone.toUpperCase()] ?? 0) + hoursOf(offset)) * 3_600_000;
  return fromLocal(utc, timeZone);
}

/** The hours of an offset such as +5, -3:30 or +5_30. */
function hoursOf(offset = "+0"): number {
  const [hours = "", minutes = "0"] = offset.split(/[:_]/);
  return Number(hours) + ((offset.startsWith("-") ? -1 : 1) * Number(minutes)) / 60;
}

/** A local time, given as if it were UTC, in ms since 1970. */
function fromLocal(local: number, timeZone: string | undefined): number | undefined {
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
    // Twice, because the offset of the first guess may be that of the other side of a clock change.
    const guess = local - offsetOf(format, local);
    return local - offsetOf(format, guess);
  } catch {
    return undefined; // No such time zone.
  }
}

/** The offset from UTC at a time, in ms. */
function offsetOf(format: Intl.DateTimeFormat, at: number): number {
  const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
  if (sign === undefined) return 0;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
