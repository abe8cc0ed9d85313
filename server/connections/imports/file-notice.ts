import { endsEarlyText } from "../../../shared/files/ends-early.ts";
import type { UploadRow } from "../../processing/uploads/queries.ts";

/** What the sender should know about a file that was imported; null: nothing. */
export function noticeOf({ facts }: Pick<UploadRow, "facts">): string | null {
  if (facts?.endsEarly === undefined) return null;
  return endsEarlyText(facts.durationMs, facts.endsEarly.expected_ms);
}
