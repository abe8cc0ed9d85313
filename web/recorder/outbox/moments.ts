import { t } from "@lingui/core/macro";
import { saveImportHighlights } from "../../api/uploads.ts";
import { clock } from "../../common/format/time.ts";

/** How long before and after a highlighted moment its highlight begins and ends. */
const beforeMs = 20_000;
const afterMs = 10_000;

/**
 * Saves the moments highlighted while recording; they become highlights of the recording.
 * @param endMs the length of the recording.
 */
export async function saveMoments(
  uploadId: string,
  moments: readonly number[],
  endMs: number,
): Promise<void> {
  const highlights = moments.map((ms) => {
    const timestamp = Math.max(0, Math.min(ms, endMs) - beforeMs);
    const end = Math.min(ms + afterMs, endMs);
    const time = clock(ms);
    return { text: t`Moment at ${time}`, timestamp, duration: Math.max(1000, end - timestamp) };
  });
  await saveImportHighlights(uploadId, highlights);
}
