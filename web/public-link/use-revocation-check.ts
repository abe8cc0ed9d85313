import { useEffect } from "react";
import type { Playback } from "../player/playback.ts";

/** Check interval while playing; buffered media would keep playing without the server. */
const playingCheckMs = 15_000;
/** Limits checks while the user drags the seek bar. */
const minCheckMs = 2000;
/** A larger change of the position is a seek; playback advances in smaller steps, even at double speed in a hidden tab. */
const seekMs = 3000;

/**
 * Detects a revoked or changed link early, with cheap HEAD requests for the media: when playback starts, after a seek, when the
 * window gets focus, and regularly while playing.
 * @param refetchLink called when the media is no longer available.
 */
export function useRevocationCheck(
  playback: Playback,
  mediaUrl: string | null,
  refetchLink: () => void,
): void {
  useEffect(() => {
    if (mediaUrl === null) return;
    let askedAt = Number.NEGATIVE_INFINITY;
    let later = 0;
    let before = playback.getState();
    const leaving = new AbortController();
    const ask = (): void => {
      const waitMs = askedAt + minCheckMs - Date.now();
      window.clearTimeout(later);
      if (waitMs > 0) {
        later = window.setTimeout(ask, waitMs);
        return;
      }
      askedAt = Date.now();
      fetch(mediaUrl, { method: "HEAD", cache: "no-store", signal: leaving.signal }).then(
        ({ status }) => {
          if ([401, 403, 404, 410].includes(status)) refetchLink();
        },
        // Offline or aborted: says nothing about the link.
        () => undefined,
      );
    };
    const stop = playback.subscribe(() => {
      const { isPlaying, timeMs } = playback.getState();
      const hasStarted = isPlaying && !before.isPlaying;
      const hasSought = Math.abs(timeMs - before.timeMs) > seekMs;
      before = playback.getState();
      if (hasStarted || hasSought) ask();
    });
    const timer = window.setInterval(() => {
      if (playback.getState().isPlaying) ask();
    }, playingCheckMs);
    window.addEventListener("focus", ask);
    return () => {
      stop();
      leaving.abort();
      window.clearTimeout(later);
      window.clearInterval(timer);
      window.removeEventListener("focus", ask);
    };
  }, [playback, mediaUrl, refetchLink]);
}
