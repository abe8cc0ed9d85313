import { t } from "@lingui/core/macro";
import type { UploadBody } from "../api/uploads.ts";

/** The label of an upload's state. */
export function stateOf({ status, auto_promote, media }: UploadBody): string {
  switch (status) {
    case "initial":
      return t`Starting`;
    case "awaiting":
      return media?.status === "url_expired" ? t`Expired` : t`Waiting for file`;
    case "processing":
      return t`Checking`;
    case "staged":
      return auto_promote ? t`Processing` : t`Ready for review`;
    case "promoting":
      return t`Processing`;
    case "success":
      return t`Ready`;
    case "failure":
      return t`Failed`;
  }
}

/** What the user can do about a failed upload; null for others. */
export function adviceFor({ status, failure }: UploadBody): string | null {
  // The texts of causes say it themselves.
  if (status !== "failure" || (failure?.causes ?? []).length > 0) return null;
  const reason = failure?.reason ?? "";
  if (/codec|h264|H\.264|aac|AAC|high|keyframe|track|mp3|MP3|container/i.test(reason))
    return t`Export it as MP4 (H.264 and AAC, at most 720 pixels high) or MP3, and upload it again.`;
  if (/expired|arrived|in time/i.test(reason)) return t`Upload the file again.`;
  if (/second|short|long/i.test(reason)) return t`Choose a recording within the allowed length.`;
  return t`Upload it again. If it still fails, contact your server's administrator.`;
}
