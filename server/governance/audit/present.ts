import type { z } from "zod";
import type { AuditEntry } from "../../../contract/governance/audit.ts";
import type { AuditRow } from "./queries.ts";

/** An entry in the API's form. */
export function presentEntry(row: AuditRow): z.input<typeof AuditEntry> {
  const { occurred_at, position, hash, details, id, ...rest } = row;
  return {
    id,
    position: position === null ? null : Number(position),
    hash: hash === null ? null : hash.toString("hex"),
    occurred_datetime: occurred_at.toISOString(),
    ...rest,
    details,
  };
}

/** The columns of a CSV export. */
export const csvColumns = [
  "position",
  "occurred_datetime",
  "action",
  "user_id",
  "user_email",
  "credential",
  "credential_id",
  "subject_type",
  "subject_id",
  "ip",
  "user_agent",
  "details",
  "id",
  "hash",
] as const satisfies readonly (keyof z.input<typeof AuditEntry>)[];

/** An entry as one line of CSV (RFC 4180), with its line end. */
export function csvLine(row: AuditRow): string {
  const entry = presentEntry(row);
  const cells = csvColumns.map((name) => {
    const value = entry[name];
    return csvCell(value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));
  });
  return `${cells.join(",")}\r\n`;
}

/**
 * A text as a CSV cell. Text that a spreadsheet would evaluate as a formula gets an apostrophe in front, as OWASP recommends
 * against CSV injection: anyone who tries to sign in controls the content of some cells.
 */
export function csvCell(text: string): string {
  const isFormula = /^[\s\p{Cc}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(text) || /^[\t\r\n]/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n';]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
