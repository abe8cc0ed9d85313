/** Video files that are accepted where files are converted, by the extensions of their names. */
const videoFormats = ["mp4", "mov", "m4v", "mkv", "webm", "avi", "wmv", "3gp"] as const;

/** Audio files likewise. */
const audioFormats = ["mp3", "m4a", "aac", "wav", "flac", "ogg", "opus", "amr", "wma"] as const;

/** Accepted files: those outside the media requirements are converted. */
export const mediaFormats = [...videoFormats, ...audioFormats] as const;
export type MediaFormat = (typeof mediaFormats)[number];

/** The format of a name's extension; null for another one. */
export function formatOf(name: string): MediaFormat | null {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
  return mediaFormats.find((format) => format === ending) ?? null;
}

/** The media type that a file of this format most likely holds; validation finds the actual one. */
export function likelyMediaType(format: MediaFormat): "video" | "audio" {
  return videoFormats.some((video) => video === format) ? "video" : "audio";
}
