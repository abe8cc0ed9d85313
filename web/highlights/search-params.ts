import type { HighlightFilter } from "../api/highlights.ts";

/** Search parameters of the highlights page: filters, and the open highlight. */
export interface HighlightsSearch extends HighlightFilter {
  readonly play?: string | undefined;
}

/** Parses the search parameters, ignoring invalid ones. */
export function readHighlightsSearch(raw: Readonly<Record<string, unknown>>): HighlightsSearch {
  const read = (name: string): string | undefined => {
    const value = raw[name];
    return (typeof value === "string" || typeof value === "number") && value !== ""
      ? String(value)
      : undefined;
  };
  return { text: read("text"), tag: read("tag"), play: read("play") };
}
