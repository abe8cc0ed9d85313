import type { Point } from "../../../../contract/recordings/points.ts";
import { keepProven, type Prove, type Proven } from "./proofs.ts";
import { wordsOnly } from "./quotes.ts";
import { type Said, safeLine } from "./sanitize.ts";
import type { AnsweredPoint } from "./schemas.ts";

/** Most points of a summary, and entries of a section. */
export const maxPoints = 200;
const maxPoint = 2000;
const maxHeading = 120;

/** Points of a model's response that are proven, each with the heading it stands under. */
export function provenPoints(
  answered: readonly AnsweredPoint[],
  prove: Prove,
  said: Said,
): Proven<Pick<Point, "heading" | "text">> {
  let heading: string | null = null;
  return keepProven(answered, maxPoints, prove, (point: AnsweredPoint) => {
    // Also of a point that is left out: the next ones stand under its heading.
    heading = (point.heading === null ? "" : safeHeading(point.heading, said)) || heading;
    const text = pointText(point.text, said);
    return wordsOnly(text) === "" ? null : { heading, text };
  });
}

/** Sanitizes the text of a point. Without marks that would start another list, heading or quotation within it. */
export function pointText(text: string, said: Said): string {
  return safeLine(text, said, maxPoint).replace(/^(?:[-*+•>#]+ )+/, "");
}

function safeHeading(text: string, said: Said): string {
  return safeLine(text.replace(/[#*_`]+/g, ""), said, maxHeading);
}

/** Markdown of points: a list under each heading. */
export function renderPoints(points: readonly Pick<Point, "heading" | "text">[]): string {
  return points
    .map(({ heading, text }, place) => {
      const previous = points[place - 1];
      const isNew = heading !== null && heading !== previous?.heading;
      const space = previous === undefined ? "" : isNew ? "\n\n" : "\n";
      return `${space}${isNew ? `### ${heading}\n\n` : ""}- ${text}`;
    })
    .join("");
}
