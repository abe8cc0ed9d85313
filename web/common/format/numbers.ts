import { perLocale } from "./locale.ts";

const numberFormat = perLocale((locale) => new Intl.NumberFormat(locale));
const percentFormat = perLocale((locale) => new Intl.NumberFormat(locale, { style: "percent" }));

/** A number with separators: `12,345`. */
export function number(value: number): string {
  return numberFormat().format(value);
}

/** A share of 1 in percent: `45%`. */
export function percent(share: number): string {
  return percentFormat().format(share);
}

const unitNames = perLocale((locale) => {
  const format = (unit: string) =>
    new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" });
  return { day: format("day"), hour: format("hour"), minute: format("minute") };
});

/** What follows a number in a field: ` days` after 2. */
export function unitAfter(value: number, unit: "day" | "hour" | "minute"): string {
  const parts = unitNames()[unit].formatToParts(value);
  const last = parts.findLastIndex(({ type }) => type === "integer" || type === "fraction");
  return parts
    .slice(last + 1)
    .map((part) => part.value)
    .join("");
}

const separatorsOf = perLocale((locale) => {
  const parts = new Intl.NumberFormat(locale, { useGrouping: true }).formatToParts(12_345.6);
  const value = (wanted: string, fallback: string) =>
    parts.find(({ type }) => type === wanted)?.value ?? fallback;
  return { thousandSeparator: value("group", ","), decimalSeparator: value("decimal", ".") };
});

/** Properties of a field with large numbers. */
export function separators(): { readonly thousandSeparator: string; readonly decimalSeparator: string } {
  return separatorsOf();
}
