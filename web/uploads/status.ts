import type { UploadBody } from "../api/uploads.ts";

/** Where an upload stands, in a word or two. */
export function stateOf({ status, auto_promote, media }: UploadBody): string {
  switch (status) {
    case "initial":
      return "Beginning";
    case "awaiting":
      return media?.status === "url_expired" ? "Too late" : "Waits for its file";
    case "processing":
      return "Being checked";
    case "staged":
      return auto_promote ? "Being made" : "Ready for review";
    case "promoting":
      return "Being made";
    case "success":
      return "Recording";
    case "failure":
      return "Failed";
  }
}

/** What the person can do now; null when there is nothing to do. */
export function adviceFor({ status, failure }: UploadBody): string | null {
  if (status !== "failure") return null;
  const reason = failure?.reason ?? "";
  if (/codec|h264|H\.264|aac|AAC|high|keyframe|track|mp3|MP3|container/i.test(reason))
    return "Export it anew as MP4 with H.264 and AAC, at most 720 pixels high, or as MP3, and send it again.";
  if (/expired|arrived|in time/i.test(reason)) return "Send the file again.";
  if (/second|short|long/i.test(reason)) return "Choose a recording of a length that is taken.";
  return "Send it again; if it fails once more, tell whoever runs this server.";
}
