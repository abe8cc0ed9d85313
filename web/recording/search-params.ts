/** What the address of a recording says. */
export interface RecordingSearch {
  /** The moment it begins at, in seconds. */
  readonly t?: number | undefined;
}

/** Reads the address; what makes no sense in it is left out. */
export function readRecordingSearch(raw: Readonly<Record<string, unknown>>): RecordingSearch {
  const t = typeof raw.t === "string" || typeof raw.t === "number" ? Number(raw.t) : Number.NaN;
  return Number.isFinite(t) && t >= 0 ? { t } : {};
}

/** The link to a moment of a recording. @param url of the recording, as the API gives it. */
export function momentLink(url: string, ms: number): string {
  const link = new URL(url, window.location.origin);
  link.searchParams.set("t", String(Math.floor(ms / 1000)));
  return link.href;
}
