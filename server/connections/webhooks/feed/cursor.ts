import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { numberCursor } from "../../../platform/http/page.ts";
import { keptDays } from "../deliveries/history.ts";

const cursorFormat = numberCursor("events", 2);
const dayMs = 86_400_000;

/** Where a page of the feed ended. */
export interface FeedPosition {
  /** The position of the last event that was scanned. */
  readonly position: string;
  /** When that event happened; null: it was the last one, so that what follows has not happened yet. */
  readonly occurredAt: Date | null;
}

/**
 * Writes a cursor of the feed. It contains the time since which the events after it are kept for thirty days, so that an old
 * cursor is refused instead of skipping deleted events. However old the events, it is valid for a day, so that a client can
 * work through a backlog.
 */
export function encodeFeedCursor({ position, occurredAt }: FeedPosition, now: Date): string {
  const since = Math.max(occurredAt?.getTime() ?? now.getTime(), now.getTime() - (keptDays - 1) * dayMs);
  return cursorFormat.encode([position, String(since)]);
}

/**
 * Reads a cursor of the feed.
 * @returns the position after which to continue.
 * @throws ProblemError `invalid_cursor` if it is not a cursor of the feed, `cursor_expired` if events after it may be deleted.
 */
export function decodeFeedCursor(cursor: string, now: Date): string {
  const [position = "0", since = "0"] = cursorFormat.decode(cursor);
  if (now.getTime() - Number(since) > keptDays * dayMs) {
    throw new ProblemError(
      "cursor_expired",
      `events are kept for ${keptDays} days, and some after this cursor were deleted; start again without a cursor, from the oldest event`,
    );
  }
  return position;
}
