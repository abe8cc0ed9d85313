import type { SearchFilter } from "../api/search.ts";

/** Search parameters of the search page. */
export type SearchParams = SearchFilter;

const texts = ["q", "from", "to", "person", "team", "type", "tag"] as const;

/** Parses the search parameters, ignoring invalid ones. */
export function readSearchParams(raw: Readonly<Record<string, unknown>>): SearchParams {
  const search: { -readonly [Name in keyof SearchParams]: SearchParams[Name] } = {};
  for (const name of texts) {
    const value = raw[name];
    // The router parses values that look like JSON: numbers, true, null.
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

/** Whether any filter is set. */
export function isFiltered({ q: _q, ...filter }: SearchParams): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** NaN for an invalid date. */
function dayAsDate(text: string): number {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00`).getTime() : Number.NaN;
}
