import { Readable } from "node:stream";
import * as contract from "../../contract/audit.ts";
import { parseTimestamp } from "../../contract/common.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { decodeNumbers, encodePlace } from "../hooks/management-cursor.ts";
import { invalidInput } from "../http/problem.ts";
import { type Api, Ready, route } from "../http/route.ts";
import { auditActions } from "./actions.ts";
import { exportAudit, exportTypes } from "./export.ts";
import { presentEntry } from "./present.ts";
import { type AuditFilter, findAudit, findTitles } from "./queries.ts";
import { actorOf, recordAudit } from "./record.ts";

const cursorName = "audit";

/** The audit log for the admins of a workspace. */
export function auditRoutes(
  api: Api,
  { db, config }: { readonly db: Database; readonly config: Pick<Config, "pageSize"> },
): void {
  route(api, contract.listAudit, async ({ principal, query }) => {
    const rows = await findAudit(db.pool, readFilter(principal.workspaceId, query), {
      before: query.cursor === undefined ? null : decodeCursor(query.cursor),
      // One more than the page shows whether there is a next one.
      limit: config.pageSize + 1,
    });
    const page = rows.slice(0, config.pageSize);
    const last = page.at(-1);
    const titles = await findTitles(db.pool, principal, page);
    return {
      entries: page.map((row) => ({
        ...presentEntry(row),
        recording_title: titles.get(row.subject_id ?? "") ?? null,
      })),
      cursor:
        rows.length > page.length && last
          ? encodePlace(cursorName, last.occurred_at.getTime(), last.id)
          : null,
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
    return new Ready(Readable.from(exportAudit(db.pool, filter, format), { objectMode: false }), {
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

/** @throws ProblemError `invalid_input` for an action that there is not: it would only ever find nothing. */
function readFilter(workspaceId: string, { action, user, subject, from, to }: Asked): AuditFilter {
  if (action !== undefined && !(auditActions as readonly string[]).includes(action))
    throw invalidInput([{ pointer: "/action", detail: `is no action; they are ${auditActions.join(", ")}` }]);
  return {
    workspaceId,
    action,
    user: user?.toLowerCase(),
    subject,
    from: from === undefined ? undefined : (parseTimestamp(from) ?? undefined),
    to: to === undefined ? undefined : (parseTimestamp(to) ?? undefined),
  };
}

/** Later than any entry, and still a date that PostgreSQL reads. */
const latest = Date.parse("9999-12-31T23:59:59.999Z");

function decodeCursor(cursor: string): { at: Date; id: string } {
  const [at = "0", id = "0"] = decodeNumbers(cursorName, cursor, 2);
  return { at: new Date(Math.min(Number(at), latest)), id };
}
