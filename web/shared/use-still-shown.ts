import { useEffect } from "react";
import type { Playback } from "../recording/player/playback.ts";

/** While something plays it is asked so often; what is loaded already would play on without the server. */
const playingPauseMs = 15_000;
/** Whoever drags along the scrubber seeks many times a second. */
const leastPauseMs = 2000;
/** Time runs on in smaller steps than this, also at double speed in a tab that is not seen. */
const seekMs = 3000;

/**
 * Notices soon that a link was taken back, or shows something else: asks for the head of the media that plays, which
 * costs next to nothing, when playing begins, after a seek, when the window is come back to, and all the while it plays.
 * @param look reads the link anew; called when the media is not to be had any more.
 */
export function useStillShown(playback: Playback, mediaUrl: string | null, look: () => void): void {
  useEffect(() => {
    if (mediaUrl === null) return;
    let askedAt = Number.NEGATIVE_INFINITY;
    let later = 0;
    let before = playback.getState();
    const leaving = new AbortController();
    const ask = (): void => {
      const waitMs = askedAt + leastPauseMs - Date.now();
      window.clearTimeout(later);
      if (waitMs > 0) {
        later = window.setTimeout(ask, waitMs);
        return;
      }
      askedAt = Date.now();
      fetch(mediaUrl, { method: "HEAD", cache: "no-store", signal: leaving.signal }).then(
        ({ status }) => {
          if ([401, 403, 404, 410].includes(status)) look();
        },
        // No line, or no page any more: that says nothing of the link.
        () => undefined,
      );
    };
    const stop = playback.subscribe(() => {
      const { isPlaying, timeMs } = playback.getState();
      const isBegun = isPlaying && !before.isPlaying;
      const isElsewhere = Math.abs(timeMs - before.timeMs) > seekMs;
      before = playback.getState();
      if (isBegun || isElsewhere) ask();
    });
    const rounds = window.setInterval(() => {
      if (playback.getState().isPlaying) ask();
    }, playingPauseMs);
    window.addEventListener("focus", ask);
    return () => {
      stop();
      leaving.abort();
      window.clearTimeout(later);
      window.clearInterval(rounds);
      window.removeEventListener("focus", ask);
    };
  }, [playback, mediaUrl, look]);
}
