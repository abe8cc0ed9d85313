import { i18n } from "@lingui/core";
import { lengthIn, sizeIn } from "../../shared/quantities.ts";

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

/** A number of bytes: `1.4 GB`. */
export const sizeText = (bytes: number): string => sizeIn(i18n.locale, bytes);

/** A duration in its largest fitting unit: `9.4 seconds`, `3 hours`. */
export const lengthText = (seconds: number): string => lengthIn(i18n.locale, seconds);
