import type { Point } from "../../contract/recordings/points.ts";
import { toLines } from "../../server/processing/intelligence/generate/lines.ts";
import { findProof } from "../../server/processing/intelligence/generate/proofs.ts";
import { indexQuotes } from "../../server/processing/intelligence/generate/quotes.ts";
import { saidIn } from "../../server/processing/intelligence/generate/sanitize.ts";
import type { DemoMeeting } from "./types.ts";

/** The points of a meeting's summary that its lines prove, as those of a language model are: others were cut off. */
export function pointsOf({ summary = [], segments }: DemoMeeting): Point[] {
  const lines = toLines(segments.map(({ key, start, text }) => ({ speaker: key, start, text })));
  const spoken = indexQuotes(lines);
  const said = saidIn(lines.map(({ text }) => text).join("\n"));
  return summary.flatMap(({ heading = null, text, quote }) => {
    const proof = findProof(spoken, { quote, line: 0 }, said);
    return proof === null ? [] : [{ heading, text, quote: proof.quote, start: proof.start }];
  });
}
