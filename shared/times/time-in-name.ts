import { type CalendarDay, isDay, readClock } from "./written-time.ts";

/** Longer than any file system allows. */
const maxNameLength = 1000;

/** A date that a time of day may follow: `2026-03-04`, `20260304`, `04.03.2026`. */
const datePattern =
  /(GMT|PXL_)?(?<!\d)(?:(20\d\d)[-_./]?([01]\d)[-_./]?([0-3]\d)|([0-3]?\d)\.([01]?\d)\.(20\d\d))(?:,? (?:at|um|à|a la\(?s?\)?|alle|às|om|kl\.) |, |[ T_-]{1,3}|(?=\d{6}(?!\d)))/gi;

/**
 * The time in a file's name or path, in ms since 1970, to the second. These programs write it: Zoom
 * (`GMT20260304-101522_Recording`, folders `2026-03-04 10.15.22 Topic`), Meet (`Topic - 2026_03_04 10_15 CET - Recording`,
 * `(2026-03-04 at 10:15 GMT+1)`), Teams (`Topic-20260304_101522UTC-Meeting Recording`), OBS (`2026-03-04 10-15-22`), macOS
 * (`2026-03-04 at 10.15.22 AM`, also `um`, `à`, `a las`, `alle`, `às`, `om` and `kl.`), Jibri and others (`room-20260304T101522Z`) and phones (`VID_20260304_101522`,
 * `PXL_20260304_101522123`, in UTC).
 * @param timeZone of times without a zone, such as Europe/Berlin; absent: that of this machine.
 */
export function timeInName(name: string, timeZone?: string): number | undefined {
  const text = name.slice(-maxNameLength).normalize("NFC");
  for (const found of text.matchAll(datePattern)) {
    const [whole, prefix, year, month, day, day2, month2, year2] = found;
    const date: CalendarDay = {
      year: Number(year ?? year2),
      month: Number(month ?? month2),
      day: Number(day ?? day2),
    };
    if (!isDay(date)) continue;
    const zone = prefix === undefined ? timeZone : "UTC";
    const clock = readClock(text, found.index + whole.length, date, { timeZone: zone, inName: true });
    if (clock !== undefined) return Math.floor(clock.at / 1000) * 1000;
  }
  return undefined;
}
