import { ProblemError } from "./errors/problem.ts";

/** Where a page ended: the sort time and id of its last row. */
export interface Position {
  readonly at: Date;
  readonly id: string;
}

/** Encodes where a page ended. A cursor names a position in the order, not a row, so rows may come and go. */
export interface CursorFormat<P> {
  encode(position: P): string;
  /** @throws ProblemError `invalid_cursor` when the cursor is malformed or from another list. */
  decode(cursor: string): P;
}

/** What the query of a page needs. */
export interface PageQuery<P> {
  /** Where the previous page ended; null for the first page. */
  readonly after: P | null;
  /** One more than the page holds: the extra row shows that there is a next page. */
  readonly limit: number;
}

export interface PageOptions<P, Row> {
  /** From the request; undefined for the first page. */
  readonly cursor: string | undefined;
  readonly size: number;
  readonly format: CursorFormat<P>;
  readonly fetch: (query: PageQuery<P>) => Promise<Row[]>;
  readonly positionOf: (row: NoInfer<Row>) => P;
  /** Shortens a page whose rows together are too large. Keeps at least the first row. */
  readonly shorten?: (rows: NoInfer<Row>[]) => NoInfer<Row>[] | Promise<NoInfer<Row>[]>;
}

/** Reads one page of a list. The cursor is null on the last page. */
export async function readPage<P, Row>({
  cursor,
  size,
  format,
  fetch,
  positionOf,
  shorten,
}: PageOptions<P, Row>): Promise<{ readonly rows: Row[]; readonly cursor: string | null }> {
  const after = cursor === undefined ? null : format.decode(cursor);
  const { rows, last } = await readRows<Row>(size, (limit) => fetch({ after, limit }), shorten);
  return { rows, cursor: last === undefined ? null : format.encode(positionOf(last)) };
}

/**
 * Reads the rows of one page. `last` is the page's last row, undefined when no rows follow it.
 * @param fetch reads at most `limit` rows: one more than the page holds.
 */
export async function readRows<Row>(
  size: number,
  fetch: (limit: number) => Promise<Row[]>,
  shorten: (rows: Row[]) => Row[] | Promise<Row[]> = (rows) => rows,
): Promise<{ readonly rows: Row[]; readonly last: Row | undefined }> {
  const found = await fetch(size + 1);
  const rows = await shorten(found.slice(0, size));
  return { rows, last: found.length > rows.length ? rows.at(-1) : undefined };
}

/** The first rows whose sizes add up to at most `maxTotal`; one row at least. */
export function takeUpToTotal<Row>(rows: Row[], maxTotal: number, sizeOf: (row: Row) => number): Row[] {
  let total = 0;
  const end = rows.findIndex((row, index) => {
    total += sizeOf(row);
    return index > 0 && total > maxTotal;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** The years that a recording can be from. */
const earliest = Date.parse("0001-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Cursors of a list ordered by time and id.
 * @param list name of the list, so that a cursor of another list is refused.
 */
export function timeCursor(list: string): CursorFormat<Position> {
  const encode = ({ at, id }: Position) => encodeParts([list, at.getTime(), id]);
  return {
    encode,
    decode(cursor) {
      const [, time = "", id = ""] = decodeParts(cursor);
      const at = new Date(Number(time));
      const isValid =
        /^-?\d{1,15}$/.test(time) &&
        at.getTime() >= earliest &&
        at.getTime() <= latest &&
        uuid.test(id) &&
        encode({ at, id }) === cursor;
      if (!isValid) throw invalidCursor();
      return { at, id };
    },
  };
}

/**
 * Cursors of a list ordered by numbers of up to 18 digits, as decimal text.
 * @param list name of the list, so that a cursor of another list is refused.
 * @param count how many numbers make up a position.
 */
export function numberCursor(list: string, count: number): CursorFormat<readonly string[]> {
  const encode = (numbers: readonly string[]) => encodeParts([list, ...numbers]);
  return {
    encode,
    decode(cursor) {
      const [, ...numbers] = decodeParts(cursor);
      const isValid =
        numbers.length === count &&
        numbers.every((number) => /^\d{1,18}$/.test(number)) &&
        encode(numbers) === cursor;
      if (!isValid) throw invalidCursor();
      return numbers;
    },
  };
}

function encodeParts(parts: readonly (string | number)[]): string {
  return Buffer.from(parts.join(":")).toString("base64url");
}

function decodeParts(cursor: string): string[] {
  return Buffer.from(cursor, "base64url").toString("utf8").split(":");
}

function invalidCursor(): ProblemError {
  return new ProblemError(
    "invalid_cursor",
    "the cursor is not from this operation; send the cursor from the previous response unchanged, or leave it out",
  );
}
