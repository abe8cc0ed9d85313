/** How long the browser's player may think about a file. */
const patienceMs = 5000;

/** What the browser's own player knows of a file. */
export interface Glimpse {
  readonly durationSec: number;
  /** As shown; 0 for audio. */
  readonly height: number;
}

/** Lets the browser's player read a file's head. @returns null when it can't play it, which says nothing of the file. */
export function glimpse(file: File, kind: "video" | "audio"): Promise<Glimpse | null> {
  const { promise, resolve } = Promise.withResolvers<Glimpse | null>();
  const element = document.createElement(kind);
  const address = URL.createObjectURL(file);
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
  const timer = setTimeout(() => resolve(null), patienceMs);
  element.src = address;
  return promise.finally(() => {
    clearTimeout(timer);
    element.onerror = null;
    element.removeAttribute("src");
    element.load();
    URL.revokeObjectURL(address);
  });
}
