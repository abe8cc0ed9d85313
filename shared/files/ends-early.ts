/**
 * How much of a file that was cut off became a recording, in minutes, or seconds if it is short.
 * @param expectedMs null where the file doesn't state its length.
 */
export function keptLength(keptMs: number, expectedMs: number | null) {
  const unit = Math.max(keptMs, expectedMs ?? 0) >= 120_000 ? "minute" : "second";
  const unitMs = unit === "minute" ? 60_000 : 1000;
  return {
    unit,
    kept: Math.round(keptMs / unitMs),
    expected: expectedMs === null ? null : Math.round(expectedMs / unitMs),
  } as const;
}

/** Says so in English. */
export function endsEarlyText(keptMs: number, expectedMs: number | null): string {
  const { unit, kept, expected } = keptLength(keptMs, expectedMs);
  if (expected === null)
    return `The file ends early: ${kept} ${unit}${kept === 1 ? "" : "s"} were kept. How much is missing is unknown.`;
  return `The file ends early: ${kept} of about ${expected} ${unit}s were kept.`;
}
