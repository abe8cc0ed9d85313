/** What the address of the search page says. */
export interface SearchParams {
  readonly q?: string | undefined;
}

/** Reads the address; what makes no sense in it is left out. */
export function readSearchParams(raw: Readonly<Record<string, unknown>>): SearchParams {
  const { q } = raw;
  return (typeof q === "string" || typeof q === "number") && q !== "" ? { q: String(q) } : {};
}
