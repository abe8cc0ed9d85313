import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Comparison, Measure } from "./load.ts";

/** One line of the result. */
export interface Figure {
  readonly name: string;
  /** The number the target speaks of. */
  readonly value: number | null;
  /** The same for people, with what it was made of. */
  readonly measured: string;
  readonly target: string;
  /** Null: there is no target, or it could not be measured here. */
  readonly isMet: boolean | null;
}

export interface Goal {
  readonly least?: number;
  readonly most?: number;
}

/** Judges a number. */
export function figure(
  name: string,
  value: number | null,
  measured: string,
  unit: string,
  goal: Goal,
): Figure {
  const target = [
    ...(goal.least === undefined ? [] : [`>= ${goal.least}${unit}`]),
    ...(goal.most === undefined ? [] : [`<= ${goal.most}${unit}`]),
  ].join(", ");
  const isMet =
    value === null || target === ""
      ? null
      : value >= (goal.least ?? Number.NEGATIVE_INFINITY) && value <= (goal.most ?? Number.POSITIVE_INFINITY);
  const judged: Figure = { name, value, measured, target: target || "-", isMet };
  console.error(`  ${name}: ${measured}${isMet === false ? "  MISSED" : ""}`);
  return judged;
}

/** Judges a ratio. */
export function ratioFigure(name: string, measure: Measure, compared: Comparison, goal: Goal): Figure {
  const unit = measure === "throughput" ? "/s" : " ms";
  const digits = measure === "throughput" ? 0 : 2;
  const measured =
    `${compared.ratio.toFixed(2)} (${compared.least.toFixed(2)} to ${compared.greatest.toFixed(2)}): ` +
    `${compared.subject.toFixed(digits)}${unit} against ${compared.baseline.toFixed(digits)}${unit}`;
  return figure(name, compared.ratio, measured, "", goal);
}

/** Prints the table and keeps it as JSON. A missed target is a finding, not an error. */
export function report(figures: readonly Figure[], facts: Readonly<Record<string, unknown>>): void {
  const header = ["figure", "measured", "target", ""];
  const verdicts = new Map([
    [true, "ok"],
    [false, "MISSED"],
  ]);
  const rows = figures.map((row) => [
    row.name,
    row.measured,
    row.target,
    row.isMet === null ? "" : (verdicts.get(row.isMet) ?? ""),
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  console.log(
    ["", line(header), line(widths.map((width) => "-".repeat(width))), ...rows.map(line), ""].join("\n"),
  );
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
  console.log(`Kept in ${file.pathname}`);
}

/** Time since, as m:ss. */
export function elapsed(since: number): string {
  const seconds = Math.round((performance.now() - since) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
