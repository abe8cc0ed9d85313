import { infiniteQueryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as audit from "../../../contract/governance/audit.ts";
import { call } from "../client.ts";

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
      call<typeof audit.listAudit>("GET", "/_/api/v1/audit", {
        signal,
        query: { ...toQuery(filter), cursor: pageParam },
      }),
  });

/** The URL that downloads the filtered log. */
export function auditExportUrl(filter: AuditFilter, format: "csv" | "jsonl"): string {
  const parameters = new URLSearchParams({ format });
  for (const [name, value] of Object.entries(toQuery(filter)))
    if (value !== undefined) parameters.set(name, value);
  return `/_/api/v1/audit/export?${parameters}`;
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
