import { type Selectable, sql } from "kysely";
import type pg from "pg";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import type { Stories } from "../../platform/db/types.ts";
import type { PageQuery, Position } from "../../platform/http/page.ts";
import { type StoryLinks, type StoryViewer, storyJson } from "./story-json.ts";

/**
 * Stories by id. Callers check first that they belong to the workspace.
 * @returns the Story as JSON, by id; deleted ones are omitted.
 */
export async function findStoryJson(
  pool: pg.Pool,
  ids: readonly string[],
  viewer: StoryViewer,
  links: StoryLinks,
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { rows } = await pool.query<{ id: string; json: string }>(
    `select s.id, ${storyJson(viewer, { bind, ...links })}::text as json
     from stories s where s.id = any(${bind(ids)}::uuid[])`,
    values,
  );
  return new Map(rows.map((row) => [row.id, row.json]));
}

/** Who made each of some stories; null where nobody is known. */
export async function findMakers(
  db: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("stories").select(["id", "created_by"]).where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, row.created_by]));
}

/** A page of cursor positions of a workspace's stories, newest first. */
export async function listStoryIds(
  db: Executor,
  workspaceId: string,
  page: PageQuery<Position>,
): Promise<Position[]> {
  const { after } = page;
  const { rows } = await sql<Position>`
    select id, created_at as at from stories
    where workspace_id = ${workspaceId}
      and (created_at, id) < (coalesce(${after?.at ?? null}::timestamptz, 'infinity'),
        coalesce(${after?.id ?? null}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by created_at desc, id desc limit ${page.limit}`.execute(db);
  return rows;
}

/** Whether the workspace has this story. */
export async function hasStory(db: Executor, workspaceId: string, storyId: string): Promise<boolean> {
  const row = await db
    .selectFrom("stories")
    .select("id")
    .where("id", "=", storyId)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return row !== undefined;
}

export type StoryRow = Selectable<Stories>;

/** The fields of a story that can be changed. */
export type StoryValues = Pick<StoryRow, "title" | "description" | "banner_image_url" | "tags">;

/** Locks a story of the workspace; the caller has locked the highlights that will be added. */
export async function lockStory(tx: Tx, workspaceId: string, storyId: string): Promise<StoryRow | undefined> {
  return tx
    .selectFrom("stories")
    .selectAll()
    .where("id", "=", storyId)
    .where("workspace_id", "=", workspaceId)
    .forUpdate()
    .executeTakeFirst();
}

export async function insertStory(
  tx: Tx,
  story: StoryValues & Pick<StoryRow, "id" | "workspace_id" | "created_by">,
): Promise<void> {
  await tx.insertInto("stories").values(story).execute();
}

export async function updateStoryRow(tx: Tx, storyId: string, values: StoryValues): Promise<void> {
  await tx
    .updateTable("stories")
    .set({ ...values, last_edited_at: sql`clock_timestamp()` })
    .where("id", "=", storyId)
    .execute();
}

export async function deleteStoryRow(tx: Tx, storyId: string): Promise<void> {
  await tx.deleteFrom("stories").where("id", "=", storyId).execute();
}

/**
 * Locks highlights that the principal can see, so that they are not deleted until the transaction ends.
 * @param storyId includes this story's highlights.
 */
export async function holdHighlights(
  tx: Tx,
  principal: Principal,
  ids: readonly string[],
  storyId: string | null = null,
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select h.id from highlights h
    where h.id in (select unnest(${ids}::uuid[])
      union select highlight_id from story_highlights where story_id = ${storyId}::uuid) and exists (select 1 from recording_grants g
      where g.recording_id = h.recording_id and g.principal_id = any(${principal.sees}::uuid[]))
    order by h.id for key share of h`.execute(tx);
  return new Set(rows.map((row) => row.id));
}

/** A highlight in a story. */
export interface StoryHighlightRow {
  readonly highlight_id: string;
  /** Whether the principal can see its recording. */
  readonly is_visible: boolean;
}

/** The highlights of a story in order. */
export async function findStoryHighlights(
  tx: Tx,
  principal: Principal,
  storyId: string,
): Promise<StoryHighlightRow[]> {
  const { rows } = await sql<StoryHighlightRow>`
    select sh.highlight_id, exists (select 1 from recording_grants g
      where g.recording_id = h.recording_id and g.principal_id = any(${principal.sees}::uuid[])) as is_visible
    from story_highlights sh join highlights h on h.id = sh.highlight_id
    where sh.story_id = ${storyId}
    order by sh.position, sh.highlight_id`.execute(tx);
  return rows;
}

/**
 * Sets the highlights of a story and their order. Rows that stay are updated rather than inserted again, so that
 * foreign-key checks don't lock highlights that this transaction has not locked.
 */
export async function saveStoryHighlights(tx: Tx, storyId: string, ids: readonly string[]): Promise<void> {
  await sql`
    delete from story_highlights where story_id = ${storyId} and highlight_id <> all(${ids}::uuid[])`.execute(
    tx,
  );
  await sql`
    insert into story_highlights (story_id, highlight_id, position)
    select ${storyId}, id, position from unnest(${ids}::uuid[]) with ordinality as l (id, position)
    on conflict (story_id, highlight_id) do update set position = excluded.position`.execute(tx);
}
