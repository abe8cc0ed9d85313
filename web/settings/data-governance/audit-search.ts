import type { AuditFilter } from "../../api/settings/audit.ts";

/** Parses the search parameters of the audit log, ignoring invalid ones. */
export function readAuditSearch(raw: Readonly<Record<string, unknown>>): AuditFilter {
  const search: { -readonly [Name in keyof AuditFilter]: AuditFilter[Name] } = {};
  for (const name of ["action", "user", "from", "to"] as const) {
    const value = raw[name];
    if (typeof value === "string" && value !== "") search[name] = value;
  }
  for (const name of ["from", "to"] as const) {
    const value = search[name];
    if (value !== undefined && !(/^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))))
      delete search[name];
  }
  return search;
}
