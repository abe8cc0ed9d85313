import { sql } from "kysely";
import { recordEvent } from "../../../people/events/record-event.ts";
import type { Tx } from "../../../platform/db/database.ts";

/** Where a highlight was in a story. */
export interface StoryPosition {
  readonly story_id: string;
  readonly highlight_id: string;
  readonly position: number;
}

/**
 * Removes highlights that are about to be deleted from their stories and records `story_updated` for each. The caller
 * has locked the highlights: every transaction locks in the order recording, highlights, stories.
 * @returns where they were.
 */
export async function removeFromStories(tx: Tx, highlightIds: readonly string[]): Promise<StoryPosition[]> {
  if (highlightIds.length === 0) return [];
  await sql`
    select id from stories
    where id in (select story_id from story_highlights where highlight_id = any(${highlightIds}::uuid[]))
    order by id for update`.execute(tx);
  // A story that was edited while this waited for its lock may no longer contain the highlight.
  const { rows } = await sql<StoryPosition>`
    delete from story_highlights where highlight_id = any(${highlightIds}::uuid[])
    returning story_id, highlight_id, position`.execute(tx);
  await noteEdited(
    tx,
    rows.map((row) => row.story_id),
  );
  return rows;
}

/**
 * Puts highlights back where they were in stories that still exist, and records `story_updated` for each. Locks as
 * `removeFromStories` does.
 */
export async function returnToStories(tx: Tx, positions: readonly StoryPosition[]): Promise<void> {
  if (positions.length === 0) return;
  const storyIds = positions.map((row) => row.story_id);
  await sql`select id from stories where id = any(${storyIds}::uuid[]) order by id for update`.execute(tx);
  const { rows } = await sql<{ story_id: string }>`
    insert into story_highlights (story_id, highlight_id, position)
    select s.id, h.id, p.position
    from unnest(${storyIds}::uuid[], ${positions.map((row) => row.highlight_id)}::uuid[],
        ${positions.map((row) => row.position)}::integer[]) as p (story_id, highlight_id, position)
      join stories s on s.id = p.story_id join highlights h on h.id = p.highlight_id
    on conflict do nothing
    returning story_id`.execute(tx);
  await noteEdited(
    tx,
    rows.map((row) => row.story_id),
  );
}

async function noteEdited(tx: Tx, storyIds: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string; workspace_id: string }>`
    update stories set last_edited_at = clock_timestamp()
    where id = any(${[...new Set(storyIds)]}::uuid[])
    returning id, workspace_id`.execute(tx);
  for (const { id, workspace_id } of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    await recordEvent(tx, { workspaceId: workspace_id, type: "story_updated", subjectId: id, data: { id } });
}
