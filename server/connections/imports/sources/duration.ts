import { maxMilliseconds } from "../../../../shared/transcripts/transcript-limits.ts";

const unitMs = { seconds: 1000, minutes: 60_000 } as const;

const wordMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000 };

/** `1:02:03` or `2:03`. */
const clockPattern = /^\d{1,4}(?::\d{1,2}){1,2}(?:[.,]\d{1,3})?$/;

/** The next part of `1 h 5 min`, `PT1H5M` or `1 hour and 5 minutes`. */
const partPattern =
  /(\d{1,9}(?:[.,]\d{1,3})?) ?(h|m|s)(?:|r|rs|in|ins|ec|ecs|ours?|inutes?|econds?)(?![a-z])\.?(?:,? and |, ?| )?/iy;

/** `3,600` is an hour to some and less than four seconds to others. */
const ambiguousComma = /^\d{1,3},\d{3}$/;

/** A length of time in ms, as a list states it; null: it can't be read. @param unit of a number alone. */
export function readDuration(text: string, unit: keyof typeof unitMs): number | null {
  const written = text.trim().slice(0, 100);
  if (ambiguousComma.test(written)) return null;
  const ms = /^\d{1,12}(?:[.,]\d{1,6})?$/.test(written)
    ? Number(written.replace(",", ".")) * unitMs[unit]
    : clockPattern.test(written)
      ? clockMs(written)
      : partsMs(written.replace(/^PT(?=\d)/i, ""));
  return ms !== null && ms <= maxMilliseconds ? Math.round(ms) : null;
}

function partsMs(text: string): number | null {
  let [ms, at] = [0, 0];
  while (at < text.length) {
    partPattern.lastIndex = at;
    const [part = "", count = "", word = ""] = partPattern.exec(text) ?? [];
    if (part === "") return null;
    ms += Number(count.replace(",", ".")) * (wordMs[word.toLowerCase()] ?? 0);
    at += part.length;
  }
  return text === "" ? null : ms;
}

/** `1:02:03` or `2:03` in milliseconds; 0 for anything else. */
export function clockMs(text: string): number {
  const written = text.trim();
  if (!clockPattern.test(written)) return 0;
  const seconds = written
    .replace(",", ".")
    .split(":")
    .reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round(seconds * 1000);
}
