/** How long to wait for the browser's player. */
const timeoutMs = 5000;

/** What the browser's player reports about a file. */
export interface MediaProbe {
  readonly durationSec: number;
  /** Displayed height in pixels; 0 for audio. */
  readonly height: number;
}

/** Reads a file's metadata with the browser's player. @returns null if it can't play it; the file may still be valid. */
export function probeMedia(file: File, kind: "video" | "audio"): Promise<MediaProbe | null> {
  const { promise, resolve } = Promise.withResolvers<MediaProbe | null>();
  const element = document.createElement(kind);
  const url = URL.createObjectURL(file);
  element.preload = "metadata";
  element.onloadedmetadata = () =>
    resolve(
      Number.isFinite(element.duration)
        ? {
            durationSec: element.duration,
            height: element instanceof HTMLVideoElement ? element.videoHeight : 0,
          }
        : null,
    );
  element.onerror = () => resolve(null);
  const timer = setTimeout(() => resolve(null), timeoutMs);
  element.src = url;
  return promise.finally(() => {
    clearTimeout(timer);
    element.onerror = null;
    element.removeAttribute("src");
    element.load();
    URL.revokeObjectURL(url);
  });
}
