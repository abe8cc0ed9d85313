/** Earlier times are those of devices whose clock was never set. */
const minTimeMs = Date.UTC(2000, 0, 2);

/** A time that a file states, in ms since 1970, as a timestamp; undefined when it can't be right. */
export function plausibleTime(ms: number | undefined): string | undefined {
  if (ms === undefined || !(ms >= minTimeMs && ms <= Date.now())) return undefined;
  return new Date(ms).toISOString();
}
