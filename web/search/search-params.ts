import type { SearchFilter } from "../api/library/search.ts";

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
  if (raw.sort === "newest" || raw.sort === "oldest") search.sort = raw.sort;
  return search;
}

/** The filters alone. */
export function filtersOf({ q: _q, sort: _sort, ...filter }: SearchParams) {
  return filter;
}

/** NaN for an invalid date. */
function dayAsDate(text: string): number {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00`).getTime() : Number.NaN;
}
