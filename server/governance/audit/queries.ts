import type pg from "pg";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import type { PageQuery, Position } from "../../platform/http/page.ts";

/** A row of the audit log. */
export interface AuditRow {
  readonly id: string;
  readonly position: string | null;
  readonly hash: Buffer | null;
  readonly occurred_at: Date;
  readonly action: string;
  readonly user_id: string | null;
  readonly user_email: string | null;
  readonly credential: string | null;
  readonly credential_id: string | null;
  readonly subject_type: string | null;
  readonly subject_id: string | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly details: Record<string, unknown>;
}

/** Which entries to return. */
export interface AuditFilter {
  readonly workspaceId: string;
  readonly action?: string | undefined;
  readonly user?: string | undefined;
  readonly subject?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

const columns = `id, position, hash, occurred_at, action, user_id, user_email, credential, credential_id, subject_type,
  subject_id, ip, user_agent, details`;

/** A page of the log, newest first. */
export async function findAudit(
  pool: pg.Pool,
  filter: AuditFilter,
  page: PageQuery<Position>,
): Promise<AuditRow[]> {
  const { conditions, values, bind } = conditionsOf(filter);
  if (page.after !== null)
    conditions.push(`(occurred_at, id) < (${bind(page.after.at)}, ${bind(page.after.id)})`);
  const { rows } = await pool.query<AuditRow>(
    `select ${columns} from audit_log where ${conditions.join(" and ")}
     order by occurred_at desc, id desc limit ${bind(page.limit)}`,
    values,
  );
  return rows;
}

/** Titles by recording id, for the recordings among the subjects of entries that the principal sees. */
export async function findTitles(
  pool: pg.Pool,
  principal: Pick<Principal, "workspaceId" | "sees">,
  entries: readonly Pick<AuditRow, "subject_type" | "subject_id">[],
): Promise<ReadonlyMap<string, string>> {
  const ids = entries.flatMap(({ subject_type: type, subject_id: id }) =>
    type === "recording" && id !== null ? [id] : [],
  );
  if (ids.length === 0) return new Map();
  const { rows } = await pool.query<{ id: string; title: string }>(
    `select r.id, r.title from recordings r
     where r.workspace_id = $1 and r.id = any($2::uuid[]) and exists (select 1 from recording_grants g
       where g.recording_id = r.id and g.principal_id = any($3::uuid[]))`,
    [principal.workspaceId, [...new Set(ids)], principal.sees],
  );
  return new Map(rows.map(({ id, title }) => [id, title]));
}

/** The position of the last sealed entry of a workspace. */
export async function findSealedEnd(pool: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await pool.query<{ head_position: string }>(
    "select head_position from audit_chains where workspace_id = $1",
    [workspaceId],
  );
  return Number(rows[0]?.head_position ?? 0);
}

/** Sealed entries in chain order, after one position and up to another. */
export async function findSealed(
  pool: Queryable,
  filter: AuditFilter,
  page: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<AuditRow[]> {
  const { conditions, values, bind } = conditionsOf(filter);
  conditions.push(`position > ${bind(page.after)}`, `position <= ${bind(page.upTo)}`);
  const { rows } = await pool.query<AuditRow>(
    `select ${columns} from audit_log where ${conditions.join(" and ")}
     order by position limit ${bind(page.limit)}`,
    values,
  );
  return rows;
}

function conditionsOf(filter: AuditFilter) {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [`workspace_id = ${bind(filter.workspaceId)}`];
  if (filter.action !== undefined) conditions.push(`action = ${bind(filter.action)}`);
  if (filter.user !== undefined) conditions.push(`user_id = ${bind(filter.user)}`);
  if (filter.subject !== undefined) conditions.push(`subject_id = ${bind(filter.subject)}`);
  if (filter.from !== undefined) conditions.push(`occurred_at >= ${bind(filter.from)}`);
  if (filter.to !== undefined) conditions.push(`occurred_at < ${bind(filter.to)}`);
  return { conditions, values, bind };
}
