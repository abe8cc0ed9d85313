/** Shorter transcripts get no chapters from the language model. */
export const minTranscriptForChaptersMs = 10 * 60_000;
export const minChapterGapMs = 30_000;
export const maxChapterTitle = 80;

/**
 * Whether a chapter can start there: within the recording, and at least 30 seconds after the previous chapter.
 * @returns what is wrong; null: nothing.
 */
export function chapterStartProblem(
  start: number,
  previous: number | undefined,
  durationMs: number,
): "after_end" | "too_close" | null {
  if (start >= durationMs) return "after_end";
  if (previous !== undefined && start < previous + minChapterGapMs) return "too_close";
  return null;
}
