const sizes = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** A number of bytes: `1.4 GB`. */
export function sizeIn(language: string, bytes: number): string {
  const power = Math.min(sizes.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return unitIn(language, bytes / 1000 ** power, sizes[power] ?? "byte", "short");
}

/** A duration in its largest fitting unit: `9.4 seconds`, `3 hours`. */
export function lengthIn(language: string, seconds: number): string {
  if (seconds < 120) return unitIn(language, seconds, "second", "long");
  return seconds < 7200
    ? unitIn(language, seconds / 60, "minute", "long")
    : unitIn(language, seconds / 3600, "hour", "long");
}

function unitIn(language: string, value: number, unit: string, unitDisplay: "short" | "long"): string {
  const format = { style: "unit", unit, unitDisplay, maximumFractionDigits: value < 100 ? 1 : 0 } as const;
  return new Intl.NumberFormat(language, format).format(value);
}
