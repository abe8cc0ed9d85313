/** The person's own time zone and how far it is from UTC at a moment: `Europe/Berlin, GMT+2`. */
export function timeZoneAt(date: Date): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const offset = new Intl.DateTimeFormat("en-GB", { timeZone, timeZoneName: "shortOffset" })
    .formatToParts(date)
    .find(({ type }) => type === "timeZoneName")?.value;
  return offset === undefined || timeZone === "UTC" ? timeZone : `${timeZone}, ${offset}`;
}
