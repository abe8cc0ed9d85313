import { transcriptSentences } from "../sentences.ts";
import { type Cue, linesOf } from "./cue.ts";
import { linesIn, maxCueCharacters } from "./lines.ts";
import type { Report } from "./report.ts";
import { readClock } from "./times.ts";

const usualFields = "layer,start,end,style,name,marginl,marginr,marginv,effect,text";

/** A dialogue with its times: in other subtitles, a line of text may begin with the same word. */
const dialogue = /^Dialogue: ?(?:[^,\n]{0,40},)? ?\d{1,9}:\d{1,2}:\d{1,2}[.,:]?\d{0,3} ?,/m;

/** Whether a file is SubStation Alpha, of editors and players. */
export function isAss(file: string): boolean {
  return /^\s*\[Script Info\]/i.test(file.slice(0, 1000)) || dialogue.test(file.slice(0, 100_000));
}

/** Reads the dialogue of `.ass` and `.ssa`: the columns are those of the line `Format:` of the events. */
export function* readAss(file: string, report: Report): Generator<Cue | null> {
  let fields = usualFields.split(",");
  let isInEvents = true;
  for (const { text: line, number } of linesIn(file)) {
    if (number % 1000 === 0) yield null;
    const section = /^\s*\[([^\]]{1,100})\]/.exec(line.slice(0, 200))?.[1];
    if (section !== undefined) isInEvents = section.toLowerCase() === "events";
    const colon = line.indexOf(":");
    const kind = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    if (kind === "format" && isInEvents)
      fields = line
        .slice(colon + 1)
        .split(",")
        .map((field) => field.trim().toLowerCase());
    if (kind === "dialogue") {
      const cue = line.length > maxCueCharacters ? null : readDialogue(line.slice(colon + 1), fields, number);
      if (cue === null) report.add(number, transcriptSentences.transcript_dialogue);
      else yield cue;
    }
  }
}

function readDialogue(text: string, fields: readonly string[], line: number): Cue | null {
  const values = new Map<string, string>();
  let from = 0;
  // The text is the last column and may have commas.
  for (const field of fields.slice(0, -1)) {
    const comma = text.indexOf(",", from);
    if (comma === -1) return null;
    values.set(field, text.slice(from, comma).trim());
    from = comma + 1;
  }
  const start = readClock(values.get("start") ?? "");
  const end = readClock(values.get("end") ?? "");
  if (start === null || end === null) return null;
  const voice = (values.get("name") ?? values.get("actor")) || null;
  const plain = plainText(text.slice(from));
  return { line, start: start.ms, end: end.ms, lines: linesOf([{ text: plain, voice, at: null }]) };
}

/** The text without overrides and drawings: all that is between braces, and what follows `{\p1}`. */
function plainText(text: string): string {
  let plain = "";
  let isDrawing = false;
  let from = 0;
  for (const match of text.matchAll(/\{([^{}]*)\}/g)) {
    if (!isDrawing) plain += text.slice(from, match.index);
    from = match.index + match[0].length;
    const drawing = /\\p(\d)/.exec(match[1] ?? "")?.[1];
    if (drawing !== undefined) isDrawing = drawing !== "0";
  }
  if (!isDrawing) plain += text.slice(from);
  return plain.replaceAll(/\\[Nn]/g, "\n").replaceAll("\\h", " ");
}
