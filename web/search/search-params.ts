import type { SearchFilter } from "../api/search.ts";

/** What the address of the search page says. */
export type SearchParams = SearchFilter;

const texts = ["q", "from", "to", "person", "team", "type", "tag"] as const;

/** Reads the address; what makes no sense in it is left out. */
export function readSearchParams(raw: Readonly<Record<string, unknown>>): SearchParams {
  const search: { -readonly [Name in keyof SearchParams]: SearchParams[Name] } = {};
  for (const name of texts) {
    const value = raw[name];
    // The router reads what looks like JSON as such: a number, true, null.
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      if (value !== "") search[name] = String(value);
  }
  for (const name of ["from", "to"] as const) {
    const value = search[name];
    if (value !== undefined && Number.isNaN(dayAsDate(value))) delete search[name];
  }
  const { media } = raw;
  if (media === "video" || media === "audio" || media === "transcript") search.media = media;
  return search;
}

/** Whether anything but the words narrows the search. */
export function isNarrowed({ q: _q, ...filter }: SearchParams): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** NaN for what is no day of the calendar. */
function dayAsDate(text: string): number {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00`).getTime() : Number.NaN;
}
