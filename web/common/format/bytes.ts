import { perLocale } from "./locale.ts";

const formats = perLocale((locale) =>
  (["byte", "kilobyte", "megabyte", "gigabyte"] as const).map((unit) => {
    const options = { style: "unit", unit, unitDisplay: unit === "byte" ? "long" : "short" } as const;
    return {
      whole: new Intl.NumberFormat(locale, { ...options, maximumFractionDigits: 0 }),
      tenths: new Intl.NumberFormat(locale, {
        ...options,
        minimumFractionDigits: 1,
        maximumFractionDigits: 1,
      }),
    };
  }),
);

/** A file size: `812 kB`, `1.4 GB`. */
export function bytes(count: number): string {
  const power = Math.min(3, Math.floor(Math.log10(Math.max(count, 1)) / 3));
  const value = count / 1000 ** power;
  const format = formats()[power];
  return (value < 10 && power > 0 ? format?.tenths : format?.whole)?.format(value) ?? "";
}
