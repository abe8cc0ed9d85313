/** Shorter transcripts get no chapters from the language model. */
export const minTranscriptForChaptersMs = 10 * 60_000;
export const minChapterGapMs = 30_000;
export const maxChapterTitle = 80;

/**
 * Whether a chapter can start there: within the recording, and at least 30 seconds after the previous chapter.
 * @returns what is wrong, as the end of a sentence about `start`; null: nothing.
 */
export function chapterStartProblem(
  start: number,
  previous: number | undefined,
  durationMs: number,
): string | null {
  if (start >= durationMs) return "must be before the end of the recording";
  if (previous !== undefined && start < previous + minChapterGapMs)
    return `must be at least ${minChapterGapMs / 1000} seconds after the previous chapter's start`;
  return null;
}
