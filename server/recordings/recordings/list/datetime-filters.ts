import type { DatetimeFilters } from "../../../../contract/common.ts";
import type { RecordingFilterInput } from "../../../../contract/recordings/recordings.ts";
import { parseTimestamp } from "../../../../shared/times/timestamp.ts";

type Comparisons = Readonly<Record<"before_datetime" | "after_datetime", string>>;

/** How `start_datetime` is compared with each filter. */
export const comparisons: Readonly<Record<DatetimeFilters, Comparisons>> = {
  /**
   * before_datetime selects recordings whose start_datetime is after the value (exclusive), after_datetime those whose
   * start_datetime is before it (inclusive). Source: contract.md, Recording Filter.
   */
  contract: { before_datetime: ">", after_datetime: "<=" },
  /** Each boundary belongs to its filter, so before is exclusive and after inclusive. */
  "by-name": { before_datetime: "<", after_datetime: ">=" },
};

const explanations: Readonly<Record<DatetimeFilters, string>> = {
  contract:
    "before_datetime finds recordings that start after its value, after_datetime those that start at or before it. For filters that mean what their names say, use a token or app with datetime_filters=by-name",
  "by-name":
    "before_datetime finds recordings that start before its value, after_datetime those that start at or after it. For filters as the API contract defines them, use a token or app with datetime_filters=contract",
};

/**
 * Why no recording can match both date filters; null if some can. Clients that expect the other reading get empty lists
 * otherwise, without a hint.
 */
export function explainExcluded(filter: RecordingFilterInput, reading: DatetimeFilters): string | null {
  const { before_datetime, after_datetime } = filter;
  if (before_datetime === undefined || after_datetime === undefined) return null;
  const [before, after] = [parseTimestamp(before_datetime), parseTimestamp(after_datetime)];
  if (before === null || after === null) return null;
  const isExcluded = reading === "contract" ? after <= before : before <= after;
  return isExcluded
    ? `before_datetime and after_datetime exclude every recording: ${explanations[reading]}`
    : null;
}

/** How the date filter of a list is read that found nothing; null without one. Programs often send only one of them. */
export function explainEmpty(filter: RecordingFilterInput, reading: DatetimeFilters): string | null {
  if (filter.before_datetime === undefined && filter.after_datetime === undefined) return null;
  return `no recording matches the filters: ${explanations[reading]}`;
}
