import { i18n } from "@lingui/core";

/** A time of the server in the reader's language and time zone. */
export function whenText(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return new Intl.DateTimeFormat(i18n.locale, { dateStyle: "medium", timeStyle: "short" }).format(time);
}

/** Names or choices in one line. */
export function listText(
  items: readonly string[],
  type: "conjunction" | "disjunction" = "conjunction",
): string {
  return new Intl.ListFormat(i18n.locale, { type }).format(items);
}

const sizes = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** A number of bytes: `1.4 GB`. */
export function sizeText(bytes: number): string {
  const power = Math.min(sizes.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return unitText(bytes / 1000 ** power, sizes[power] ?? "byte", "short");
}

/** A duration in its largest fitting unit: `9.4 seconds`, `3 hours`. */
export function lengthText(seconds: number): string {
  if (seconds < 120) return unitText(seconds, "second", "long");
  return seconds < 7200 ? unitText(seconds / 60, "minute", "long") : unitText(seconds / 3600, "hour", "long");
}

function unitText(value: number, unit: string, unitDisplay: "short" | "long"): string {
  const format = { style: "unit", unit, unitDisplay, maximumFractionDigits: value < 100 ? 1 : 0 } as const;
  return new Intl.NumberFormat(i18n.locale, format).format(value);
}
