import type { z } from "zod";
import type { SearchHit } from "../../../contract/recordings/search.ts";
import type { Word } from "./match.ts";
import { makeSnippet, type Snippet } from "./snippet.ts";
import type { Term } from "./terms.ts";
import type { FoundRecording, ShownSegment } from "./texts.ts";

export type Hit = z.output<typeof SearchHit>;

/** The searchable texts of a recording besides its transcript. */
export function textsAround({ title, tags, participants, highlights }: FoundRecording): string[] {
  return [
    title,
    ...tags,
    ...participants.map(nameAndEmail),
    ...highlights.flatMap((highlight) => [highlight.text, ...highlight.tags]),
  ];
}

/** Hits outside the transcript: title, tags, participants and highlights, in this order. */
export function hitsAround(
  recording: FoundRecording,
  terms: readonly Term[],
  indexed: ReadonlyMap<string, readonly Word[]>,
): Hit[] {
  const hit = (text: string, values: Pick<Hit, "kind"> & Partial<Hit>): Hit[] => {
    const snippet = makeSnippet(text, terms, indexed);
    return snippet.marks.length === 0 ? [] : [toHit(snippet, values)];
  };
  return [
    ...hit(recording.title, { kind: "title" }),
    ...recording.tags.flatMap((tag) => hit(tag, { kind: "tag" })),
    ...recording.participants.flatMap((person) =>
      hit(nameAndEmail(person), { kind: "participant", participant_id: person.id }),
    ),
    ...recording.highlights.flatMap(({ id, text, tags, start_ms }) => {
      const values = { kind: "highlight", highlight_id: id, timestamp: start_ms } as const;
      const [inText] = hit(text, values);
      // A tag alone would not say which highlight it belongs to.
      return inText ? [inText] : tags.flatMap((tag) => hit(`${text} · ${tag}`, values)).slice(0, 1);
    }),
  ];
}

/** The hit in a segment of the transcript. Without a mark where a phrase goes across its end. */
export function hitInSegment(
  segment: ShownSegment,
  terms: readonly Term[],
  indexed: ReadonlyMap<string, readonly Word[]>,
): Hit {
  const { participant_id, speaker, start_ms, text } = segment;
  return toHit(makeSnippet(text, terms, indexed), {
    kind: "transcript",
    timestamp: start_ms,
    participant_id,
    speaker,
  });
}

function toHit({ text, marks }: Snippet, values: Pick<Hit, "kind"> & Partial<Hit>): Hit {
  return {
    snippet: { text, marks: [...marks] },
    timestamp: null,
    highlight_id: null,
    participant_id: null,
    speaker: null,
    ...values,
  };
}

function nameAndEmail({ name, email }: { readonly name: string; readonly email: string | null }): string {
  return email === null ? name : `${name} <${email}>`;
}
