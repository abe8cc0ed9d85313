import { sql } from "kysely";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import type { SectionKindName } from "../generate/schemas.ts";

/** A template in the form of the management API. */
export interface TemplateRow {
  readonly id: string;
  readonly title: string;
  readonly kind: SectionKindName;
  readonly prompt: string;
  readonly position: number;
  readonly enabled: boolean;
  readonly created_datetime: string;
  readonly updated_datetime: string;
}

const columns = sql`id, title, kind, prompt, position, is_enabled as enabled,
  parley_timestamp(created_at) as created_datetime, parley_timestamp(updated_at) as updated_datetime`;

export async function findTemplates(db: Executor, workspaceId: string): Promise<TemplateRow[]> {
  const { rows } = await sql<TemplateRow>`
    select ${columns} from section_templates where workspace_id = ${workspaceId}
    order by position, created_at, id`.execute(db);
  return rows;
}

export async function findTemplate(
  db: Executor,
  workspaceId: string,
  templateId: string,
): Promise<TemplateRow | undefined> {
  const { rows } = await sql<TemplateRow>`
    select ${columns} from section_templates
    where workspace_id = ${workspaceId} and id = ${templateId}`.execute(db);
  return rows[0];
}

/** How many there are and where the next one goes; others wait until the transaction ends. */
export async function findTemplateRoom(
  tx: Tx,
  workspaceId: string,
): Promise<{ readonly count: number; readonly next_position: number }> {
  await sql`select pg_advisory_xact_lock(hashtextextended('section_templates:' || ${workspaceId}::text, 0))`.execute(
    tx,
  );
  const { rows } = await sql<{ count: number; next_position: number }>`
    select count(*)::integer as count, least(1000000, coalesce(max(position) + 1, 0))::integer as next_position
    from section_templates where workspace_id = ${workspaceId}`.execute(tx);
  return rows[0] ?? { count: 0, next_position: 0 };
}

export async function isTitleTaken(
  db: Executor,
  workspaceId: string,
  title: string,
  exceptId: string | null,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from section_templates
    where workspace_id = ${workspaceId} and title_key = parley_lower(normalize(${title}::text, NFKC))
      and id is distinct from ${exceptId}::uuid`.execute(db);
  return rows.length > 0;
}

export async function insertTemplate(
  tx: Tx,
  row: Pick<TemplateRow, "id" | "title" | "kind" | "prompt" | "position" | "enabled"> & {
    readonly workspaceId: string;
  },
): Promise<TemplateRow> {
  const { rows } = await sql<TemplateRow>`
    insert into section_templates (id, workspace_id, title, kind, prompt, position, is_enabled)
    values (${row.id}, ${row.workspaceId}, ${row.title}, ${row.kind}, ${row.prompt}, ${row.position}, ${row.enabled})
    returning ${columns}`.execute(tx);
  return rows[0] as TemplateRow;
}

/** Changes the given fields. @returns undefined when there is no such template. */
export async function updateTemplateRow(
  tx: Tx,
  workspaceId: string,
  templateId: string,
  changes: {
    readonly [K in "title" | "kind" | "prompt" | "position" | "enabled"]?: TemplateRow[K] | undefined;
  },
): Promise<TemplateRow | undefined> {
  const { rows } = await sql<TemplateRow>`
    update section_templates set title = coalesce(${changes.title ?? null}, title),
      kind = coalesce(${changes.kind ?? null}, kind), prompt = coalesce(${changes.prompt ?? null}, prompt),
      position = coalesce(${changes.position ?? null}::integer, position),
      is_enabled = coalesce(${changes.enabled ?? null}::boolean, is_enabled), updated_at = clock_timestamp()
    where workspace_id = ${workspaceId} and id = ${templateId}
    returning ${columns}`.execute(tx);
  return rows[0];
}

/** @returns false when there was none. */
export async function deleteTemplateRow(
  db: Executor,
  workspaceId: string,
  templateId: string,
): Promise<boolean> {
  const { rows } = await sql`
    delete from section_templates where workspace_id = ${workspaceId} and id = ${templateId} returning id`.execute(
    db,
  );
  return rows.length > 0;
}
