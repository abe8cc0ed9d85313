import { t } from "@lingui/core/macro";

/** What this browser can record. */
export interface Abilities {
  readonly screen: boolean;
  /** The sound of a shared tab, window or screen. */
  readonly sharedSound: boolean;
  readonly camera: boolean;
  /** Microphone, and recording at all. */
  readonly sound: boolean;
  /** What doesn't work here, and what does, in sentences for the user. */
  readonly limits: readonly string[];
}

/** Chromium's; other browsers have it in threads only or not at all. TypeScript's DOM library lacks it. */
export const TrackProcessor = (
  globalThis as {
    MediaStreamTrackProcessor?: new (init: {
      track: MediaStreamTrack;
    }) => { readonly readable: ReadableStream<VideoFrame> };
  }
).MediaStreamTrackProcessor;

/** Reads the abilities from what the browser offers, never from its name. */
export function findAbilities(): Abilities {
  const { mediaDevices } = navigator;
  if (!window.isSecureContext)
    return nothing(
      t`Browsers record only on pages opened with https. Ask your administrator for an https URL.`,
    );
  const canStore = navigator.storage?.getDirectory !== undefined && navigator.locks !== undefined;
  const canEncode = "AudioEncoder" in window && "AudioWorkletNode" in window;
  if (mediaDevices === undefined || !canStore || !canEncode)
    return nothing(
      t`This browser can't record. Use a current version of Chrome or Edge, or record with another app and upload the file.`,
    );
  const hasVideo = TrackProcessor !== undefined && "VideoEncoder" in window;
  const screen = hasVideo && "getDisplayMedia" in mediaDevices;
  // Only Chromium's browsers share sound, and only they report what was captured.
  const sharedSound = screen && "CaptureController" in window;
  return {
    screen,
    sharedSound,
    camera: hasVideo,
    sound: true,
    limits: limitsOf(screen, hasVideo, sharedSound),
  };
}

function nothing(limit: string): Abilities {
  return { screen: false, sharedSound: false, camera: false, sound: false, limits: [limit] };
}

function limitsOf(screen: boolean, camera: boolean, sharedSound: boolean): string[] {
  if (screen && sharedSound) return [];
  if (screen)
    return [
      t`This browser can't record the sound of a tab. It records the screen and your microphone; for the sound of both sides, use Chrome or Edge.`,
    ];
  if (camera)
    return [
      t`This browser can't record the screen. It records your camera and microphone; for the screen, use Chrome or Edge on a computer.`,
    ];
  return [
    t`This browser records sound from your microphone only. For the screen and the sound of a tab, use Chrome or Edge on a computer.`,
  ];
}
