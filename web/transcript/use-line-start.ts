import { useEffect, useRef } from "react";
import type { Segment } from "../api/recording/recording.ts";
import { lineStartWithin } from "../common/segments.ts";
import type { PlayerContextValue } from "../player/context.ts";

/**
 * Seeks from a link's whole second to the line that starts within it, once the transcript is loaded.
 * @param ms the link's position in milliseconds, if any. Does nothing after the user has sought elsewhere.
 */
export function useLineStart(
  ms: number | undefined,
  segments: readonly Segment[] | undefined,
  { playback, goTo }: Pick<PlayerContextValue, "playback" | "goTo">,
): void {
  const done = useRef<number>(undefined);
  useEffect(() => {
    if (ms === undefined || segments === undefined || done.current === ms) return;
    done.current = ms;
    const start = lineStartWithin(segments, ms);
    if (start !== undefined && playback.getState().timeMs === ms) goTo(start);
  }, [ms, segments, playback, goTo]);
}
