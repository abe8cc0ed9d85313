import { type Database, readFor } from "../../platform/db/database.ts";
import type { Reader } from "../../platform/db/replica.ts";
import { csvColumns, csvLine, presentEntry } from "./present.ts";
import { type AuditFilter, type AuditRow, findSealed, findSealedEnd } from "./queries.ts";

export type ExportFormat = "csv" | "jsonl";

export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv",
  jsonl: "application/x-ndjson",
};

/** Entries read at a time, so that memory use does not grow with the log. */
const pageSize = 1000;

/**
 * Exports the entries sealed at the time of the call, in chain order.
 * @returns chunks of the file's text.
 */
export async function* exportAudit(
  db: Pick<Database, "pool" | "replica">,
  reader: Reader | null,
  filter: AuditFilter,
  format: ExportFormat,
): AsyncGenerator<string> {
  const upTo = await findSealedEnd(db.pool, filter.workspaceId);
  if (format === "csv") yield `${csvColumns.join(",")}\r\n`;
  for (let after = 0; ; ) {
    const rows = await readFor(db, reader, async (source) => {
      const hasAll = source === db.pool || (await findSealedEnd(source, filter.workspaceId)) >= upTo;
      return findSealed(hasAll ? source : db.pool, filter, { after, upTo, limit: pageSize });
    });
    if (rows.length > 0) yield rows.map(format === "csv" ? csvLine : jsonLine).join("");
    if (rows.length < pageSize) return;
    after = Number(rows.at(-1)?.position);
  }
}

function jsonLine(row: AuditRow): string {
  return `${JSON.stringify(presentEntry(row))}\n`;
}
