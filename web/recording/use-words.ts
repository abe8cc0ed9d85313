import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Transcript, wordsQuery } from "../api/recording/recording.ts";
import type { SegmentWords } from "../common/words.ts";

/** The words of the transcript with their times, loaded after the transcript itself. */
export function useWords(id: string, transcript: Transcript | undefined): SegmentWords {
  const { data } = useQuery(
    wordsQuery(id, transcript?.transcript_version ?? 0, transcript?.has_word_times === true),
  );
  return useMemo(
    () =>
      data !== undefined && data.transcript_version === transcript?.transcript_version
        ? data.segments.map(({ words }) => words ?? [])
        : null,
    [data, transcript?.transcript_version],
  );
}
