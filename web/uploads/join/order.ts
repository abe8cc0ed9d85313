import { timeInName } from "../../../shared/times/time-in-name.ts";
import { compareNames } from "../../common/format/names.ts";

/** Orders the parts of a meeting by their names; part 2 comes before part 10. */
export function byName(files: readonly File[]): File[] {
  return files.toSorted((a, b) => compareNames(a.name, b.name));
}

/** Orders the parts of a meeting by their times. */
export function byTime(files: readonly File[]): File[] {
  const times = new Map(partTimes(files).map(({ file, at }) => [file, at]));
  return byName(files).toSorted((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0));
}

/** When the parts started, if all names say so; otherwise when they were changed, which is when they ended. */
export function partTimes(files: readonly File[]): { file: File; at: number; isStart: boolean }[] {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const starts = files.map(({ name }) => timeInName(name, timeZone));
  const isStart = starts.every((at) => at !== undefined);
  return files.map((file, index) => ({
    file,
    at: (isStart ? starts[index] : undefined) ?? file.lastModified,
    isStart,
  }));
}

/** Swaps a part with the one before it. */
export function moveUp(files: readonly File[], index: number): File[] {
  return files.map((file, at) =>
    at === index - 1 ? (files[index] ?? file) : at === index ? (files[index - 1] ?? file) : file,
  );
}
