import { sql } from "kysely";
import type { Tx } from "../db/database.ts";
import { record } from "../events/record.ts";

/**
 * Takes highlights that are about to be deleted out of the stories they are in, and reports those as updated. The
 * highlights are to be locked before: locks are taken in the order recording, highlights, stories everywhere.
 */
export async function removeFromStories(tx: Tx, highlightIds: readonly string[]): Promise<void> {
  if (highlightIds.length === 0) return;
  await sql`
    select id from stories
    where id in (select story_id from story_highlights where highlight_id = any(${highlightIds}::uuid[]))
    order by id for update`.execute(tx);
  // One that was edited while this waited may have lost the highlight by itself.
  const { rows } = await sql<{ id: string; workspace_id: string }>`
    with removed as (
      delete from story_highlights where highlight_id = any(${highlightIds}::uuid[]) returning story_id)
    update stories set last_edited_at = clock_timestamp()
    where id in (select story_id from removed)
    returning id, workspace_id`.execute(tx);
  for (const { id, workspace_id } of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    await record(tx, { workspaceId: workspace_id, type: "story_updated", subjectId: id, data: { id } });
}
