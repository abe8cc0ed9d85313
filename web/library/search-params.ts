import type { LibraryFilter } from "../api/library/list.ts";

/** Search parameters of the library: filters, order and view. */
export interface LibrarySearch extends LibraryFilter {
  readonly view?: "grid" | undefined;
}

const texts = ["title", "team", "type", "from", "to"] as const;

/** Parses the search parameters, ignoring invalid ones. */
export function readLibrarySearch(raw: Readonly<Record<string, unknown>>): LibrarySearch {
  const search: { -readonly [Name in keyof LibrarySearch]: LibrarySearch[Name] } = {};
  for (const name of texts) {
    const value = raw[name];
    if ((typeof value === "string" || typeof value === "number") && value !== "")
      search[name] = String(value);
  }
  for (const name of ["from", "to"] as const)
    if (search[name] !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(search[name])) delete search[name];
  if (raw.scope === "internal" || raw.scope === "external") search.scope = raw.scope;
  if (raw.attendance === "hosted" || raw.attendance === "attended") search.attendance = raw.attendance;
  if (raw.sort === "oldest" || raw.sort === "title") search.sort = raw.sort;
  if (raw.favorite === true || raw.favorite === "true") search.favorite = true;
  if (raw.view === "grid") search.view = "grid";
  return search;
}

/** The filters alone. */
export function filtersOf({ view: _view, sort: _sort, ...filter }: LibrarySearch) {
  return filter;
}
