import { ProblemError } from "./problem.ts";

/** Where a page ended: the sort time and id of its last row. */
export interface Position {
  readonly at: Date;
  readonly id: string;
}

/** The years that a recording can be from. */
const earliest = Date.parse("0001-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Writes a keyset cursor. It names a place in the order, not a row, so it stays good while rows come and go.
 * @param list which list it belongs to, so that a cursor of another one is refused.
 */
export function encodeCursor(list: string, position: Position): string {
  return Buffer.from(`${list}:${position.at.getTime()}:${position.id}`).toString("base64url");
}

/**
 * Reads a cursor.
 * @throws ProblemError `invalid_cursor` when it is not one of this list's.
 */
export function decodeCursor(list: string, cursor: string): Position {
  const [name, time = "", id = "", ...rest] = Buffer.from(cursor, "base64url").toString("utf8").split(":");
  const at = new Date(Number(time));
  const isRight =
    name === list &&
    rest.length === 0 &&
    /^-?\d{1,15}$/.test(time) &&
    at.getTime() >= earliest &&
    at.getTime() <= latest &&
    uuid.test(id) &&
    encodeCursor(list, { at, id }) === cursor;
  if (!isRight) {
    throw new ProblemError(
      "invalid_cursor",
      "the cursor was not made by this operation; send the cursor of the previous response unchanged, or none",
    );
  }
  return { at, id };
}
