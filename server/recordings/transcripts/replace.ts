import { sql } from "kysely";
import type { UsedSpeechModel } from "../../../contract/transcripts/transcript-history.ts";
import { transcriptTooLong } from "../../../shared/transcripts/transcript-limits.ts";
import type { Tx } from "../../platform/db/database.ts";
import { invalidInput } from "../../platform/http/errors/problem.ts";
import type { NewSegment } from "../recordings/create.ts";
import { countSegments, noChanges } from "./changes.ts";
import { growsTooLong, insertEdit, writeSegments } from "./queries.ts";
import { type FormerSegment, planReapply } from "./reapply.ts";

/** A longer list of lost edits helps nobody. */
const maxLost = 100;

/** The transcript that is about to be replaced, after all edits. */
export async function findFormer(tx: Tx, recordingId: string): Promise<FormerSegment[]> {
  const { rows } = await sql<FormerSegment>`
    select start_ms, end_ms, participant_id, speaker, text, original from transcript_segments
    where recording_id = ${recordingId} order by position`.execute(tx);
  return rows;
}

/**
 * Completes the replacement of a transcript whose new segments are written: applies the edits of the former one where
 * they are to be kept, and adds a history entry. The caller records the events.
 * @param version the recording's new transcript_version.
 * @returns the number of the history entry; null if there was no transcript before.
 * @throws ProblemError `invalid_input` when kept edits make a supplied transcript too long.
 */
export async function completeRenewal(
  tx: Tx,
  recordingId: string,
  renewal: {
    readonly edits: "keep" | "discard";
    readonly version: number;
    readonly former: readonly FormerSegment[];
    readonly fresh: readonly NewSegment[];
    /** Who supplied the new one; absent if the speech model generated it. */
    readonly suppliedBy?: { readonly userId: string | null };
    /** What generated the new one. */
    readonly used?: UsedSpeechModel;
  },
): Promise<number | null> {
  const { edits, version, former, fresh, suppliedBy, used } = renewal;
  if (former.length === 0) return null;
  const common = { userId: suppliedBy?.userId ?? null, version };
  const number = await insertEdit(tx, recordingId, {
    ...common,
    kind: suppliedBy === undefined ? "transcribed" : "supplied",
    segments: fresh.length,
    details: { edits, ...(used === undefined ? {} : { used }) },
    changes: noChanges,
  });
  if (edits === "keep") {
    const { changes, lost } = planReapply(former, fresh);
    // A generated transcript is limited by the file's length, and its job could only repeat the failure.
    if (suppliedBy !== undefined && (await growsTooLong(tx, recordingId, changes)))
      throw invalidInput([
        {
          pointer: "/edits",
          detail: `must be discard: with the kept edits the transcript is too long, since it ${transcriptTooLong}`,
        },
      ]);
    await writeSegments(tx, recordingId, changes);
    if (changes.length + lost.length > 0)
      await insertEdit(tx, recordingId, {
        ...common,
        kind: "reapplied",
        segments: countSegments({ segments: changes, participants: [] }),
        details: { not_reapplied: lost.slice(0, maxLost), not_reapplied_count: lost.length },
        changes: { segments: changes, participants: [] },
      });
  }
  return number;
}
