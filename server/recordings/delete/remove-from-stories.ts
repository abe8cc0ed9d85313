import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";
import { record } from "../../platform/events/record.ts";

/**
 * Removes highlights that are about to be deleted from their stories and records `story_updated` for each. The caller
 * has locked the highlights: every transaction locks in the order recording, highlights, stories.
 */
export async function removeFromStories(tx: Tx, highlightIds: readonly string[]): Promise<void> {
  if (highlightIds.length === 0) return;
  await sql`
    select id from stories
    where id in (select story_id from story_highlights where highlight_id = any(${highlightIds}::uuid[]))
    order by id for update`.execute(tx);
  // A story that was edited while this waited for its lock may no longer contain the highlight.
  const { rows } = await sql<{ id: string; workspace_id: string }>`
    with removed as (
      delete from story_highlights where highlight_id = any(${highlightIds}::uuid[]) returning story_id)
    update stories set last_edited_at = clock_timestamp()
    where id in (select story_id from removed)
    returning id, workspace_id`.execute(tx);
  for (const { id, workspace_id } of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    await record(tx, { workspaceId: workspace_id, type: "story_updated", subjectId: id, data: { id } });
}
