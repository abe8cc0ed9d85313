import { InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../../server/platform/config/values.ts";

/** Collects the values of a repeatable option. */
export function collect(value: string, earlier: string[]): string[] {
  return [...earlier, value];
}

/** Parses a duration such as 30d to milliseconds. */
export function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms === 0) throw new InvalidArgumentError("must be a duration, such as 12h or 30d");
  return ms;
}

/** `--compat`, for tokens and apps. @param isNew whether they are being created, so that the server's setting applies. */
export function compatibilityOption({ isNew } = { isNew: true }): Option {
  return new Option(
    "--compat <names>",
    `names of the original service that are also used${isNew ? " (default: PARLEY_COMPAT)" : ""}`,
  ).choices(["none", "hubspot"]);
}

/** `--datetime-filters`, likewise. */
export function datetimeFiltersOption({ isNew } = { isNew: true }): Option {
  return new Option(
    "--datetime-filters <reading>",
    `how before_datetime and after_datetime are read: as the API contract defines them, or by name${isNew ? " (default: PARLEY_DATETIME_FILTERS)" : ""}`,
  ).choices(["contract", "by-name"]);
}
