import { z } from "zod";
import { parseTimestamp, readTimestamp } from "../shared/times/timestamp.ts";
import { maxMilliseconds } from "../shared/transcripts/transcript-limits.ts";

/** A UUID in upper or lower case; responses use lower case. */
export const Uuid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/, "must be a UUID")
  .meta({ format: "uuid", example: "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11" });

/** A timestamp in responses: ISO 8601, UTC, milliseconds. */
export const Timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ format: "date-time", example: "2026-10-05T14:30:00.000Z" });

/** A timestamp in requests: any ISO 8601 calendar date or date-time that `readTimestamp` accepts. */
export const TimestampInput = z
  .string()
  .superRefine((text, context) => {
    const result = readTimestamp(text);
    if ("problem" in result) context.addIssue(result.problem);
  })
  .meta({ format: "date-time", example: "2026-10-05T14:30:00Z" });

/** A timestamp in requests that must not be in the future. */
export const PastTimestamp = TimestampInput.refine(
  (text) => (parseTimestamp(text)?.getTime() ?? 0) <= Date.now(),
  "must not be in the future",
);

/** Normalizes a validated timestamp to ISO 8601 UTC with milliseconds. */
export function toTimestamp(text: string): string {
  const instant = parseTimestamp(text);
  if (instant === null) throw new TypeError("not a timestamp; validate the input with TimestampInput first");
  return instant.toISOString();
}

/** Whether the first time is before the second; true if either is missing or invalid, which other rules report. */
export function isInOrder(first: string | null | undefined, second: string | null | undefined): boolean {
  const [from, to] = [parseTimestamp(first ?? ""), parseTimestamp(second ?? "")];
  return from === null || to === null || from < to;
}

/** Response of operations that have nothing else to return. */
export const Success = z.strictObject({ success: z.literal(true) }).meta({ id: "Success" });

export const NextCursor = z
  .string()
  .nullable()
  .meta({ description: "Send it as `cursor` to get the next page; null if this is the last page." });

/** Room for a position and the parameters that a cursor carries. */
export const maxCursorLength = 8000;

export const CursorInput = z.string().max(maxCursorLength).meta({
  description:
    "The `cursor` of the previous response. Opaque; never expires. It continues with the parameters of the call that returned it, such as `filter` and `include`; a parameter sent with it replaces that parameter.",
});

/** Milliseconds that fit a 32-bit integer (24 days). */
export const Milliseconds = z.int().min(0).max(maxMilliseconds);

/** How `before_datetime` and `after_datetime` are read. */
export const DatetimeFilters = z.enum(["contract", "by-name"]).meta({
  id: "DatetimeFilters",
  description:
    "How before_datetime and after_datetime are read. `contract`: before_datetime finds recordings that start after the value, after_datetime those that start at or before it. `by-name`: before_datetime finds those that start before the value, after_datetime those that start at or after it.",
});

export type DatetimeFilters = z.output<typeof DatetimeFilters>;

/** Names of the original service that are used beside those of the contract. */
export const Compatibility = z.enum(["none", "hubspot"]).meta({
  id: "Compatibility",
  description:
    "Names of the original service that are also used. `hubspot`: include.hubspot is accepted like include.crm, and both return `hubspot` and `hs_contact_id` beside `crm` and `crm_contact_id`. `none`: only the names of this document.",
});

export type Compatibility = z.output<typeof Compatibility>;

/** The response header of operations that take `include.hubspot`. */
export const ignoredIncludeWarning = {
  description: "Present if `include.hubspot` was ignored. It says how to change that.",
  example:
    '299 parley "include.hubspot is ignored; use include.crm, or a token or app with compatibility=hubspot"',
};
