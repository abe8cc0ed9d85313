import { useSyncExternalStore } from "react";

/** iPhones only support full screen for video elements, with a proprietary method. */
interface IphoneVideo extends HTMLVideoElement {
  webkitEnterFullscreen?: () => void;
}

/** Enters or exits full screen, with the player's controls. */
export function toggleFullScreen(frame: HTMLElement | null): void {
  if (frame === null) return;
  if (document.fullscreenElement !== null) void document.exitFullscreen();
  else if (document.fullscreenEnabled) void frame.requestFullscreen().catch(() => undefined);
  else (frame.querySelector("video") as IphoneVideo | null)?.webkitEnterFullscreen?.();
}

/** Enters or exits picture-in-picture. Browsers show their own error if they refuse. */
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
