import { ProblemError } from "../http/problem.ts";
import { decodeNumbers, encodePlace } from "./management-cursor.ts";
import { keptDays } from "./queries.ts";

const cursorName = "events";
const dayMs = 86_400_000;

/** Where a page of the feed ended. */
export interface FeedPlace {
  /** The place of the last event that was looked at. */
  readonly place: string;
  /** When that event happened; null when it was the last of all, so that whatever follows is yet to happen. */
  readonly occurredAt: Date | null;
}

/**
 * Writes a cursor of the feed. With the place goes the time from which what follows it is kept for thirty days, so that
 * a cursor is refused rather than leave out what was removed meanwhile. However old the events, it is good for a day:
 * who works through a backlog must get on.
 */
export function encodeFeedCursor({ place, occurredAt }: FeedPlace, now: Date): string {
  const since = Math.max(occurredAt?.getTime() ?? now.getTime(), now.getTime() - (keptDays - 1) * dayMs);
  return encodePlace(cursorName, place, since);
}

/**
 * Reads a cursor of the feed.
 * @returns the place to go on after.
 * @throws ProblemError `invalid_cursor` when it is none, `cursor_expired` when what follows it may have been removed.
 */
export function decodeFeedCursor(cursor: string, now: Date): string {
  const [place = "0", since = "0"] = decodeNumbers(cursorName, cursor, 2);
  if (now.getTime() - Number(since) > keptDays * dayMs) {
    throw new ProblemError(
      "cursor_expired",
      `events are kept for ${keptDays} days, and some that follow this cursor are gone; begin again without a cursor, from the oldest event kept`,
    );
  }
  return place;
}
