import type { HighlightFilter } from "../api/highlights.ts";

/** What the address of the highlights says: what to show, and which one is open. */
export interface HighlightsSearch extends HighlightFilter {
  readonly play?: string | undefined;
}

/** Reads the address; what makes no sense in it is left out. */
export function readHighlightsSearch(raw: Readonly<Record<string, unknown>>): HighlightsSearch {
  const read = (name: string): string | undefined => {
    const value = raw[name];
    return (typeof value === "string" || typeof value === "number") && value !== ""
      ? String(value)
      : undefined;
  };
  return { text: read("text"), tag: read("tag"), play: read("play") };
}
