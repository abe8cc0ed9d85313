import { useSyncExternalStore } from "react";

/** Phones of one maker show films alone in full screen, by a call of their own. */
interface PhoneVideo extends HTMLVideoElement {
  webkitEnterFullscreen?: () => void;
}

/** Shows the player alone, with its controls, or goes back. */
export function toggleFullScreen(frame: HTMLElement | null): void {
  if (frame === null) return;
  if (document.fullscreenElement !== null) void document.exitFullscreen();
  else if (document.fullscreenEnabled) void frame.requestFullscreen().catch(() => undefined);
  else (frame.querySelector("video") as PhoneVideo | null)?.webkitEnterFullscreen?.();
}

/** Shows the picture in a window of its own, or takes it back. Browsers may refuse, and say so themselves. */
export function togglePictureInPicture(frame: HTMLElement | null): void {
  if (document.pictureInPictureElement !== null) void document.exitPictureInPicture();
  else
    void frame
      ?.querySelector("video")
      ?.requestPictureInPicture()
      .catch(() => undefined);
}

export function useIsFullScreen(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener("fullscreenchange", listener);
      return () => document.removeEventListener("fullscreenchange", listener);
    },
    () => document.fullscreenElement !== null,
  );
}
