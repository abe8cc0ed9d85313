import { perLocale } from "./locale.ts";

const offsetFormat = perLocale((locale) => new Intl.DateTimeFormat(locale, { timeZoneName: "shortOffset" }));

/** The browser's time zone with its UTC offset at a date: `Europe/Berlin, GMT+2`. */
export function timeZoneAt(date: Date): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const offset = offsetFormat()
    .formatToParts(date)
    .find(({ type }) => type === "timeZoneName")?.value;
  return offset === undefined || timeZone === "UTC" ? timeZone : `${timeZone}, ${offset}`;
}
