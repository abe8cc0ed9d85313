/**
 * Says how much of a file that was cut off became a recording.
 * @param expectedMs null where the file doesn't state its length.
 */
export function endsEarlyText(keptMs: number, expectedMs: number | null): string {
  const unit = Math.max(keptMs, expectedMs ?? 0) >= 120_000 ? 60_000 : 1000;
  const name = unit === 1000 ? "second" : "minute";
  const kept = Math.round(keptMs / unit);
  if (expectedMs === null)
    return `The file ends early: ${kept} ${name}${kept === 1 ? "" : "s"} were kept. How much is missing is unknown.`;
  return `The file ends early: ${kept} of about ${Math.round(expectedMs / unit)} ${name}s were kept.`;
}
