import type { LibraryFilter } from "../api/recordings.ts";

/** What the address of the library says: what to show and how. */
export interface LibrarySearch extends LibraryFilter {
  readonly view?: "grid" | undefined;
}

const texts = ["title", "team", "type", "from", "to"] as const;

/** Reads the address; what makes no sense in it is left out. */
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
  if (raw.view === "grid") search.view = "grid";
  return search;
}

/** Whether anything narrows the library. */
export function isNarrowed({ view: _view, ...filter }: LibrarySearch): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}
