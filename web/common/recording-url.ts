/** Search parameters of the recording page. */
export interface RecordingSearch {
  /** The start position in seconds, with up to three decimals. */
  readonly t?: number | undefined;
  /** The open tab; without it, the first. */
  readonly tab?: RecordingTab | undefined;
  /** Words that are marked in the transcript; the first match is shown. */
  readonly find?: string | undefined;
  /** Opens the Share dialog. */
  readonly share?: true | undefined;
  /** The id of a comment, which is shown in the tab of comments. */
  readonly comment?: string | undefined;
}

/** The tabs of the recording page, in their order. */
const recordingTabs = [
  "transcript",
  "summary",
  "actions",
  "highlights",
  "comments",
  "notes",
  "people",
  "details",
] as const;

export type RecordingTab = (typeof recordingTabs)[number];

/** The tab with a name; undefined if there is none. */
export function tabOf(name: unknown): RecordingTab | undefined {
  return recordingTabs.find((tab) => tab === name);
}

/** Parses the search parameters, ignoring invalid ones. */
export function readRecordingSearch(raw: Readonly<Record<string, unknown>>): RecordingSearch {
  const t = typeof raw.t === "string" || typeof raw.t === "number" ? Number(raw.t) : Number.NaN;
  const comment = typeof raw.comment === "string" ? raw.comment : undefined;
  const tab = comment === undefined ? tabOf(raw.tab) : "comments";
  return {
    ...(Number.isFinite(t) && t >= 0 ? { t } : {}),
    ...(tab === undefined ? {} : { tab }),
    ...(typeof raw.find === "string" || typeof raw.find === "number" ? { find: String(raw.find) } : {}),
    ...(raw.share === true ? { share: true } : {}),
    ...(comment === undefined ? {} : { comment }),
  };
}

/** A position for URLs: seconds with decimals, since lines rarely start at a whole second. @param ms milliseconds. */
export function secondsOf(ms: number): number {
  return Math.round(ms) / 1000;
}

/** The start position in whole milliseconds; undefined if the URL has none. */
export function momentOf({ t }: RecordingSearch): number | undefined {
  return t === undefined ? undefined : Math.round(t * 1000);
}

/** The URL of a position in a recording. @param url of the recording, as the API returns it. */
export function momentLink(url: string, ms: number): string {
  const link = new URL(url, window.location.origin);
  link.searchParams.set("t", String(secondsOf(ms)));
  return link.href;
}

/** The URL of a comment. @param url of the recording, as the API returns it. */
export function commentLink(url: string, commentId: string): string {
  const link = new URL(url, window.location.origin);
  link.searchParams.set("comment", commentId);
  return link.href;
}

/** The path of a recording's page. */
export function recordingUrl(id: string): string {
  return `/recordings/${id}`;
}
