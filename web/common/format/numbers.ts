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
