/** A time in UTC, for emails: the server doesn't know their readers' time zones. As in `28 November 2026 at 20:04 UTC`. */
export function utcTime(language: string, at: Date): string {
  const format = new Intl.DateTimeFormat(language, {
    year: "numeric",
    month: "long",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZone: "UTC",
    timeZoneName: "short",
  });
  // Emails in ASCII alone are sent unencoded.
  return format.format(at).replaceAll("\u202f", " ");
}
