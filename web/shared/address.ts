import { readRecordingSearch } from "../recording/search-params.ts";

/** What the address of a public link says. */
export interface SharedAddress {
  readonly token: string;
  /** Shown in a frame of another page. */
  readonly isEmbed: boolean;
  /** The moment to begin at, before what the link itself says. */
  readonly startMs: number | undefined;
  /** Of a story: the one to begin with. */
  readonly itemId: string | undefined;
  /** In a frame: whether the words are shown at first; undefined: where there is room. */
  readonly hasTranscript: boolean | undefined;
}

/** Reads `/s/:token` and `/embed/:token`. */
export function readAddress({ pathname, search }: Pick<Location, "pathname" | "search">): SharedAddress {
  const [, place = "", token = ""] = pathname.split("/");
  const query = Object.fromEntries(new URLSearchParams(search));
  const { t } = readRecordingSearch(query);
  return {
    token: decode(token),
    isEmbed: place === "embed",
    startMs: t === undefined ? undefined : t * 1000,
    itemId: query.item,
    hasTranscript: query.transcript === undefined ? undefined : query.transcript !== "0",
  };
}

/** The page of a link, for a link that is shown in a frame too. */
export function pageAddress(token: string, itemId?: string): string {
  const url = new URL(`/s/${encodeURIComponent(token)}`, window.location.origin);
  if (itemId !== undefined) url.searchParams.set("item", itemId);
  return url.href;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray per cent sign: no link has one, and the server says so.
    return text;
  }
}
