import { sql } from "kysely";
import type { Tx } from "../db/database.ts";
import type { NewSegment } from "../recordings/create.ts";
import { countSegments, noChanges } from "./changes.ts";
import { insertEdit, writeSegments } from "./queries.ts";
import { type FormerSegment, planReapply } from "./reapply.ts";

/** Lists of what was lost that are longer than this help nobody. */
const mostLost = 100;

/** The transcript that is about to be replaced, as it is after all edits. */
export async function findFormer(tx: Tx, recordingId: string): Promise<FormerSegment[]> {
  const { rows } = await sql<FormerSegment>`
    select start_ms, end_ms, participant_id, speaker, text, original from transcript_segments
    where recording_id = ${recordingId} order by position`.execute(tx);
  return rows;
}

/**
 * Completes the replacing of a transcript whose new segments are written: writes the edits of the former one into it
 * where they are to be kept, and says so in the history. The events are the caller's.
 * @param version the recording's transcript_version now.
 * @returns the number of what the history says; null where there was no transcript before.
 */
export async function completeRenewal(
  tx: Tx,
  recordingId: string,
  renewal: {
    readonly edits: "keep" | "discard";
    readonly version: number;
    readonly former: readonly FormerSegment[];
    readonly fresh: readonly NewSegment[];
    /** Who put the new one there; left out: the speech model made it. */
    readonly suppliedBy?: { readonly userId: string | null };
  },
): Promise<number | null> {
  const { edits, version, former, fresh, suppliedBy } = renewal;
  if (former.length === 0) return null;
  const common = { userId: suppliedBy?.userId ?? null, version };
  const number = await insertEdit(tx, recordingId, {
    ...common,
    kind: suppliedBy === undefined ? "transcribed" : "supplied",
    segments: fresh.length,
    details: { edits },
    changes: noChanges,
  });
  if (edits === "keep") {
    const { changes, lost } = planReapply(former, fresh);
    await writeSegments(tx, recordingId, changes);
    if (changes.length + lost.length > 0)
      await insertEdit(tx, recordingId, {
        ...common,
        kind: "reapplied",
        segments: countSegments({ segments: changes, participants: [] }),
        details: { not_reapplied: lost.slice(0, mostLost), not_reapplied_count: lost.length },
        changes: { segments: changes, participants: [] },
      });
  }
  return number;
}
