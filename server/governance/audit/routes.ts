import { Readable } from "node:stream";
import * as contract from "../../../contract/governance/audit.ts";
import { parseTimestamp } from "../../../shared/times/timestamp.ts";
import { auditActions } from "../../platform/audit/actions.ts";
import { actorOf, recordAudit } from "../../platform/audit/record.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { invalidInput } from "../../platform/http/errors/problem.ts";
import { numberCursor, type Position, readPage } from "../../platform/http/page.ts";
import { type Api, Ready, route } from "../../platform/http/routing/route.ts";
import { exportAudit, exportTypes } from "./export.ts";
import { presentEntry } from "./present.ts";
import { type AuditFilter, findAudit, findTitles } from "./queries.ts";

const cursorFormat = numberCursor("audit", 2);

/** The audit log for the admins of a workspace. */
export function auditRoutes(
  api: Api,
  { db, config }: { readonly db: Database; readonly config: Pick<Config, "pageSize"> },
): void {
  route(api, contract.listAudit, async ({ principal, query }) => {
    const filter = readFilter(principal.workspaceId, query);
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: cursorFormat,
      fetch: ({ after, limit }) => findAudit(db.pool, filter, { after: after && toPosition(after), limit }),
      positionOf: (row) => [String(row.occurred_at.getTime()), row.id],
    });
    const titles = await findTitles(db.pool, principal, rows);
    return {
      entries: rows.map((row) => ({
        ...presentEntry(row),
        recording_title: titles.get(row.subject_id ?? "") ?? null,
      })),
      cursor,
    };
  });

  route(api, contract.exportAudit, async ({ principal, query, request }) => {
    const { format = "csv", ...asked } = query;
    const filter = readFilter(principal.workspaceId, asked);
    await db.kysely
      .transaction()
      .execute((tx) =>
        recordAudit(tx, actorOf(request), { action: "audit_log_exported", details: { format, ...asked } }),
      );
    return new Ready(Readable.from(exportAudit(db, principal, filter, format), { objectMode: false }), {
      "content-type": `${exportTypes[format]}; charset=utf-8`,
      "content-disposition": `attachment; filename="audit.${format}"`,
    });
  });
}

interface Asked {
  readonly action?: string | undefined;
  readonly user?: string | undefined;
  readonly subject?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** @throws ProblemError `invalid_input` for an unknown action, which would never match. */
function readFilter(workspaceId: string, { action, user, subject, from, to }: Asked): AuditFilter {
  if (action !== undefined && !(auditActions as readonly string[]).includes(action))
    throw invalidInput([
      { pointer: "/action", detail: `is not an action; use one of ${auditActions.join(", ")}` },
    ]);
  return {
    workspaceId,
    action,
    user: user?.toLowerCase(),
    subject,
    from: from === undefined ? undefined : (parseTimestamp(from) ?? undefined),
    to: to === undefined ? undefined : (parseTimestamp(to) ?? undefined),
  };
}

/** Later than any entry, and still a date that PostgreSQL accepts. */
const latest = Date.parse("9999-12-31T23:59:59.999Z");

function toPosition([at = "0", id = "0"]: readonly string[]): Position {
  return { at: new Date(Math.min(Number(at), latest)), id };
}
