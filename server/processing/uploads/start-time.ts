import { timeInName } from "../../../shared/times/time-in-name.ts";
import type { ImportedFile, StartTime } from "../../platform/db/json-columns.ts";
import { plausibleTime } from "../media/plausible-time.ts";

/**
 * When a recording started: as its container states it, as its name does, or by the time of its last change, when recording
 * programs finish a file.
 */
export function findStart(
  facts: { readonly startedAt?: string | undefined; readonly durationMs: number },
  file: ImportedFile | undefined,
): StartTime | undefined {
  if (facts.startedAt !== undefined) return { at: facts.startedAt, from: "container" };
  const named = plausibleTime(file?.name ? timeInName(file.name, file.timeZone ?? undefined) : undefined);
  if (named !== undefined) return { at: named, from: "name" };
  const modified = file?.modified ? Date.parse(file.modified) : undefined;
  const at = plausibleTime(modified === undefined ? undefined : modified - facts.durationMs);
  return at === undefined ? undefined : { at, from: "modified" };
}
