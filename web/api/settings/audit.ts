import { infiniteQueryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as audit from "../../../contract/governance/audit.ts";
import { call, urlOf } from "../client/call.ts";

export type AuditEntry = z.output<typeof audit.ListedAuditEntry>;

/** Filters of the audit log, named as in the page's URL. */
export interface AuditFilter {
  readonly action?: string | undefined;
  /** Id of a user. */
  readonly user?: string | undefined;
  /** Days as `YYYY-MM-DD` in the browser's time zone, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The log, newest first, page by page. */
export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ["audit", filter],
    initialPageParam: null as string | null,
    getNextPageParam: (last: z.output<typeof audit.listAudit.response>) => last.cursor,
    queryFn: ({ pageParam, signal }) =>
      call(audit.listAudit, { signal, query: { ...toQuery(filter), cursor: pageParam } }),
  });

/** The URL that downloads the filtered log. */
export function auditExportUrl(filter: AuditFilter, format: "csv" | "jsonl"): string {
  return urlOf(audit.exportAudit, { query: { format, ...toQuery(filter) } });
}

function toQuery({ action, user, from, to }: AuditFilter) {
  const end = to === undefined ? undefined : new Date(`${to}T00:00:00`);
  end?.setDate(end.getDate() + 1);
  return {
    action,
    user,
    from: from === undefined ? undefined : new Date(`${from}T00:00:00`).toISOString(),
    to: end?.toISOString(),
  };
}
