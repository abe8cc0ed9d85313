import { capitalize } from "../health/finding.ts";
import { type Check, passed, skipped, warning, wrong } from "./check.ts";

/** S3 refuses requests whose time differs by more than 15 minutes; a smaller difference already shifts link expirations. */
const [warnAfterMs, failAfterMs] = [5000, 300_000];

/**
 * Compares this machine's clock with another's.
 * @param time the other's time now; null: it gave none.
 */
export function checkSkew(name: string, other: string, time: string | Date | null): Check {
  const at = time === null ? Number.NaN : new Date(time).getTime();
  if (Number.isNaN(at)) return skipped(name, `${capitalize(other)} reports no time.`);
  const differenceMs = Math.abs(Date.now() - at);
  const words = `The clocks of this machine and of ${other} differ by ${Math.round(differenceMs / 1000)} s.`;
  const remedy = "Synchronize both clocks by NTP (timedatectl set-ntp true).";
  if (differenceMs >= failAfterMs) return wrong(name, words, remedy);
  if (differenceMs >= warnAfterMs) return warning(name, words, remedy);
  return passed(name, `The clocks of this machine and of ${other} agree.`);
}
