import { sql } from "kysely";
import { recordEvent } from "../../people/events/record-event.ts";
import type { Tx } from "../../platform/db/database.ts";

interface HighlightRange {
  readonly id: string;
  readonly workspace_id: string;
  readonly start_ms: number;
  readonly duration_ms: number;
}

/** The time of a segment; an empty segment counts as an instant, as when highlights are read. */
interface Spoken {
  readonly start_ms: number;
  readonly end_ms: number;
}

/**
 * Reports `highlight_updated` for the highlights whose text changed. A highlight's text is always read from the
 * transcript, so it is not stored.
 * @param spoken the times of the changed segments; null: the whole transcript changed.
 */
export async function reportHighlights(
  tx: Tx,
  recordingId: string,
  spoken: readonly Spoken[] | null,
): Promise<void> {
  if (spoken?.length === 0) return;
  const { rows } = await sql<HighlightRange>`
    select h.id, r.workspace_id, h.start_ms, h.duration_ms
    from highlights h join recordings r on r.id = h.recording_id
    where h.recording_id = ${recordingId}
    order by h.id for update of h`.execute(tx);
  for (const highlight of rows) {
    if (spoken?.some((segment) => isSpokenIn(segment, highlight)) === false) continue;
    await recordEvent(tx, {
      workspaceId: highlight.workspace_id,
      type: "highlight_updated",
      subjectId: highlight.id,
      recordingId,
      data: { id: highlight.id, recording_id: recordingId },
    });
  }
}

function isSpokenIn({ start_ms, end_ms }: Spoken, highlight: HighlightRange): boolean {
  const endMs = Math.max(end_ms, start_ms + 1);
  return start_ms < highlight.start_ms + highlight.duration_ms && endMs > highlight.start_ms;
}
