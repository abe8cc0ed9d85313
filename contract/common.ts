import { z } from "zod";

/** A UUID in any case; the service writes them in lower case. */
export const Uuid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/, "must be a UUID")
  .meta({ format: "uuid", example: "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11" });

/** A timestamp as the service writes it: ISO 8601, UTC, milliseconds. */
export const Timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ format: "date-time", example: "2026-10-05T14:30:00.000Z" });

const earliest = Date.parse("0001-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");
const isoDateTime = z.iso.datetime({ offset: true, local: true });
const isoDate = z.iso.date();

/**
 * Reads an ISO 8601 date or date-time; without an offset it is UTC, since real clients leave the `Z` out.
 * @returns the instant, or null when the text is none or lies outside the years 1 to 9999.
 */
export function parseTimestamp(text: string): Date | null {
  const upper = text.toUpperCase();
  let instant: number;
  if (isoDate.safeParse(text).success) instant = Date.parse(`${text}T00:00:00Z`);
  else if (isoDateTime.safeParse(upper).success)
    instant = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(upper) ? upper : `${upper}Z`);
  else return null;
  return instant >= earliest && instant <= latest ? new Date(instant) : null;
}

/** A timestamp as a client may write it. */
export const TimestampInput = z
  .string()
  .refine(
    (text) => parseTimestamp(text) !== null,
    "must be an ISO 8601 timestamp of the years 1 to 9999, such as 2026-10-05T14:30:00Z",
  )
  .meta({ format: "date-time", example: "2026-10-05T14:30:00Z" });

/** Answer of operations that have nothing to return. */
export const Success = z.strictObject({ success: z.literal(true) }).meta({ id: "Success" });

/** Where the next page begins; null when there is none. */
export const NextCursor = z
  .string()
  .nullable()
  .meta({ description: "Send it as `cursor` to get the next page; null when there is no next page." });

export const CursorInput = z
  .string()
  .max(1000)
  .meta({ description: "The `cursor` of the previous response. Opaque; never expires." });

/** Milliseconds, as far as a 32-bit integer counts (24 days). */
export const Milliseconds = z.int().min(0).max(2_147_483_647);
