import { momentOf, readRecordingSearch } from "../common/recording-url.ts";

/** The parts of a public link's URL. */
export interface LinkUrl {
  readonly token: string;
  /** Embedded in another page. */
  readonly isEmbed: boolean;
  /** The start position; overrides the link's own. */
  readonly startMs: number | undefined;
  /** The story item to start with. */
  readonly itemId: string | undefined;
  /** For embeds: whether the transcript is shown initially; undefined: if there is room. */
  readonly hasTranscript: boolean | undefined;
}

/** Parses `/s/:token` and `/embed/:token`. */
export function parseLinkUrl({ pathname, search }: Pick<Location, "pathname" | "search">): LinkUrl {
  const [, page = "", token = ""] = pathname.split("/");
  const query = Object.fromEntries(new URLSearchParams(search));
  const startMs = momentOf(readRecordingSearch(query));
  return {
    token: decode(token),
    isEmbed: page === "embed",
    startMs,
    itemId: query.item,
    hasTranscript: query.transcript === undefined ? undefined : query.transcript !== "0",
  };
}

/** The URL of a link's page, also for embeds. */
export function linkPageUrl(token: string, itemId?: string): string {
  const url = new URL(`/s/${encodeURIComponent(token)}`, window.location.origin);
  if (itemId !== undefined) url.searchParams.set("item", itemId);
  return url.href;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray percent sign: the server will respond with 404.
    return text;
  }
}
