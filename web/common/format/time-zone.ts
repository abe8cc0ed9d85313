/** The browser's time zone with its UTC offset at a date: `Europe/Berlin, GMT+2`. */
export function timeZoneAt(date: Date): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const offset = new Intl.DateTimeFormat("en-GB", { timeZone, timeZoneName: "shortOffset" })
    .formatToParts(date)
    .find(({ type }) => type === "timeZoneName")?.value;
  return offset === undefined || timeZone === "UTC" ? timeZone : `${timeZone}, ${offset}`;
}
