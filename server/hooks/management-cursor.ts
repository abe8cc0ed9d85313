import { ProblemError } from "../http/problem.ts";

/** Writes a cursor that names a place in an order of numbers. @param list which list it belongs to. */
export function encodePlace(list: string, ...numbers: readonly (string | number)[]): string {
  return Buffer.from([list, ...numbers].join(":")).toString("base64url");
}

/**
 * Reads the number of a cursor.
 * @throws ProblemError `invalid_cursor` when it is not one of this list's.
 */
export function decodePlace(list: string, cursor: string): string {
  const [place] = decodeNumbers(list, cursor, 1);
  return place ?? "0";
}

/**
 * Reads the numbers of a cursor; each fits into 64 bits.
 * @throws ProblemError `invalid_cursor` when it is not one of this list's.
 */
export function decodeNumbers(list: string, cursor: string, count: number): string[] {
  const [name, ...numbers] = Buffer.from(cursor, "base64url").toString("utf8").split(":");
  const isRight =
    name === list &&
    numbers.length === count &&
    numbers.every((number) => /^\d{1,18}$/.test(number)) &&
    encodePlace(list, ...numbers) === cursor;
  if (!isRight) {
    throw new ProblemError(
      "invalid_cursor",
      "the cursor was not made by this operation; send the cursor of the previous response unchanged, or none",
    );
  }
  return numbers;
}
