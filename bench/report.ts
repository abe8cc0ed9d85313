import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Comparison } from "./load.ts";

/** One line of the result. */
export interface Figure {
  readonly name: string;
  /** What was measured. */
  readonly measured: string;
  /** What it is compared with, and subject / baseline; null for a figure that stands for itself. */
  readonly baseline: string | null;
  readonly ratio: number | null;
  readonly target: string | null;
  /** Null: there is no target, or it could not be measured here. */
  readonly isMet: boolean | null;
}

/** Bounds, both inclusive. */
export interface Goal {
  readonly min?: number;
  readonly max?: number;
}

/** A figure that stands for itself. @param value null when it can't be measured here. */
export function figure(
  name: string,
  value: number | null,
  measured: string,
  unit: string,
  goal: Goal,
): Figure {
  return print({ name, measured, baseline: null, ratio: null, ...check(value, unit, goal) }, measured);
}

/** A figure that can't be measured here, and why. */
export function skippedFigure(name: string, reason: string): Figure {
  return figure(name, null, `skipped: ${reason}`, "", {});
}

/** A figure that is compared with a baseline; its goal is a goal for the ratio. */
export function ratioFigure(name: string, unit: string, compared: Comparison, goal: Goal): Figure {
  const { subject, baseline, ratio, min, max } = compared;
  const measured = `${rounded(subject)}${unit}`;
  const against = `${rounded(baseline)}${unit}`;
  const spread = min === max ? "" : ` (${rounded(min)} to ${rounded(max)})`;
  const text = `${rounded(ratio)}${spread}: ${measured} against ${against}`;
  return print({ name, measured, baseline: against, ratio, ...check(ratio, "", goal) }, text);
}

function check(value: number | null, unit: string, { min, max }: Goal): Pick<Figure, "target" | "isMet"> {
  const bounds = [
    ...(min === undefined ? [] : [`>= ${min}${unit}`]),
    ...(max === undefined ? [] : [`<= ${max}${unit}`]),
  ];
  if (bounds.length === 0) return { target: null, isMet: null };
  return {
    target: bounds.join(", "),
    isMet:
      value === null
        ? null
        : value >= (min ?? Number.NEGATIVE_INFINITY) && value <= (max ?? Number.POSITIVE_INFINITY),
  };
}

function print(row: Figure, text: string): Figure {
  console.error(`  ${row.name}: ${text}${row.isMet === false ? "  MISSED" : ""}`);
  return row;
}

const rounded = (value: number): string => value.toFixed(value >= 100 ? 0 : value >= 0.1 ? 2 : 4);

/** Prints the table and writes it to bench/.data/last.json. A missed target is a finding, not an error. */
export function report(figures: readonly Figure[], facts: Readonly<Record<string, unknown>>): void {
  console.log(`\n${table(figures)}\n`);
  const missed = figures.filter((row) => row.isMet === false);
  console.log(
    missed.length === 0
      ? "All targets are met."
      : `${missed.length} of ${figures.filter((row) => row.isMet !== null).length} targets are MISSED: ${missed.map((row) => row.name).join("; ")}`,
  );
  const folder = new URL("./.data/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const file = new URL("last.json", folder);
  const machine = { cpus: cpus().length, model: cpus()[0]?.model ?? null, node: process.version };
  writeFileSync(file, `${JSON.stringify({ at: new Date(), machine, ...facts, figures }, null, 2)}\n`);
  console.log(`Written to ${file.pathname}`);
}

/** One line for each figure: what was measured, its baseline, their ratio and the target. */
export function table(figures: readonly Figure[]): string {
  const header = ["figure", "measured", "baseline", "ratio", "target", ""];
  const rows = figures.map(({ name, measured, baseline, ratio, target, isMet }) => [
    name,
    measured,
    baseline ?? "-",
    ratio === null ? "-" : rounded(ratio),
    target ?? "-",
    isMet === null ? "" : isMet ? "ok" : "MISSED",
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

/** Time since, as m:ss. */
export function elapsed(since: number): string {
  const seconds = Math.round((performance.now() - since) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
