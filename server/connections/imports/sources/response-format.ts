import { formatOf, type MediaFormat } from "../../../../shared/files/media-formats.ts";

const formatOfType: Readonly<Record<string, MediaFormat>> = {
  "video/mp4": "mp4",
  "video/quicktime": "mov",
  "video/webm": "webm",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "audio/x-m4a": "m4a",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/webm": "webm",
  "audio/ogg": "ogg",
};

/** The format of a media file by the headers of its response; the content decides how it is converted. */
export function formatOfResponse(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  mediaType: string,
): MediaFormat {
  const type =
    String(headers["content-type"] ?? "")
      .split(";")[0]
      ?.trim()
      .toLowerCase() ?? "";
  const name = /filename="?([^";]+)"?/i.exec(String(headers["content-disposition"] ?? ""))?.[1] ?? "";
  return formatOfType[type] ?? formatOf(name) ?? (mediaType === "audio" ? "mp3" : "mp4");
}
