/** Video files that are accepted where files are converted, by the extensions of their names. */
const videoFormats = [
  ...["mp4", "mov", "m4v", "mkv", "webm", "avi", "wmv", "3gp"],
  ...["3g2", "ts", "mts", "m2ts", "mpg", "mpeg", "vob", "flv", "f4v", "mxf", "asf", "ogv"],
] as const;

/** Audio files likewise. */
const audioFormats = [
  ...["mp3", "m4a", "aac", "wav", "flac", "ogg", "opus", "amr", "wma"],
  ...["m4b", "oga", "spx", "mka", "weba", "caf", "aiff", "aif", "aifc", "w64"],
] as const;

/** Accepted files: those outside the media requirements are converted. The content decides, the extension only hints. */
export const mediaFormats = [...videoFormats, ...audioFormats] as const;
export type MediaFormat = (typeof mediaFormats)[number];

/** Containers that Parley understands. */
export type MediaContainer = "mp4" | "mov" | "m4a" | "mp3" | ConvertedContainer;

/** Containers that only uploads which are converted may have. */
export type ConvertedContainer =
  | ("mkv" | "webm" | "avi" | "wav" | "flac" | "ogg" | "aac" | "amr" | "asf")
  | ("mpegts" | "mpeg" | "flv" | "mxf" | "caf" | "aiff" | "w64");

/** The format of a name's extension; null for another one. */
export function formatOf(name: string): MediaFormat | null {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
  return mediaFormats.find((format) => format === ending) ?? null;
}

/** The media type that a file of this format most likely holds; validation finds the actual one. */
export function likelyMediaType(format: MediaFormat): "video" | "audio" {
  return videoFormats.some((video) => video === format) ? "video" : "audio";
}
