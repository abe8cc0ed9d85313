import { InvalidArgumentError } from "commander";
import { parseDuration } from "../server/config-values.ts";

/** Gathers an option that may be repeated. */
export function collect(value: string, earlier: string[]): string[] {
  return [...earlier, value];
}

/** Reads a duration such as 30d; milliseconds. */
export function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms === 0) throw new InvalidArgumentError("It must be a duration such as 12h or 30d.");
  return ms;
}
