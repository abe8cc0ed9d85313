import type { Run } from "./markup.ts";

/** A line of a cue's text. */
export interface CueLine {
  readonly runs: readonly Run[];
  /** The text of the runs, trimmed. */
  readonly text: string;
}

/** A cue as its file has it; times in milliseconds. */
export interface Cue {
  /** Where it begins in the file, from 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly lines: readonly CueLine[];
}

/** Splits runs into lines; those without text are left out. */
export function linesOf(runs: readonly Run[]): CueLine[] {
  const lines: Run[][] = [[]];
  for (const { text, voice, at } of runs)
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ text: part, voice, at });
    }
  return lines.flatMap((line) => {
    const text = line
      .map((run) => run.text)
      .join("")
      .trim();
    const runs = line.map((run, index) => ({
      ...run,
      text: trimmed(run.text, index === 0, index === line.length - 1),
    }));
    return text === "" ? [] : [{ runs, text }];
  });
}

function trimmed(text: string, isFirst: boolean, isLast: boolean): string {
  const start = isFirst ? text.trimStart() : text;
  return isLast ? start.trimEnd() : start;
}

/** A line without its first characters. */
export function withoutStart(line: CueLine, length: number): CueLine {
  const whole = line.runs.map((run) => run.text).join("");
  let left = whole.length - whole.trimStart().length + length;
  const runs = line.runs.flatMap((run) => {
    const cut = Math.min(left, run.text.length);
    left -= cut;
    return cut === run.text.length && cut > 0 ? [] : [{ ...run, text: run.text.slice(cut) }];
  });
  return { runs, text: line.text.slice(length).trim() };
}
