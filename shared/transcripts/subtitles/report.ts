import { fillSentence } from "../../fill-sentence.ts";
import { transcriptSentences } from "../sentences.ts";

/** What of a file could not be read. */
export interface Unread {
  /** How many cues or entries. */
  readonly count: number;
  /** The first of them; without a line where the file has none that says more. */
  readonly first: readonly { readonly line: number | null; readonly reason: string }[];
}

/** A longer list helps nobody. */
const maxListed = 20;

/** Counts what could not be read. */
export class Report implements Unread {
  count = 0;
  readonly first: { line: number | null; reason: string }[] = [];

  add(line: number | null, reason: string): void {
    this.count += 1;
    if (this.first.length < maxListed) this.first.push({ line, reason });
  }
}

/** What could not be read, as a sentence; null: everything was. */
export function describeUnread({ count, first }: Unread): string | null {
  if (count === 0) return null;
  const listed = first
    .slice(0, 5)
    .map(({ line, reason }) =>
      line === null ? reason : fillSentence(transcriptSentences.transcript_line, { number: line, reason }),
    );
  const reasons = listed.join("; ");
  const more = count - listed.length;
  if (more > 0) return fillSentence(transcriptSentences.transcript_unread_more, { count, reasons, more });
  return count === 1
    ? fillSentence(transcriptSentences.transcript_unread_one, { reason: reasons })
    : fillSentence(transcriptSentences.transcript_unread, { count, reasons });
}
