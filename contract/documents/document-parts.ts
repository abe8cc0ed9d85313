/** What a document of a recording may contain, in its order. */
export const documentParts = ["summary", "action_items", "chapters", "highlights", "transcript"] as const;
export type DocumentPart = (typeof documentParts)[number];

/** How a document calls its parts, and says that the recording has none of one. */
export const documentPartWords: Readonly<
  Record<DocumentPart, { readonly title: string; readonly none: string }>
> = {
  summary: { title: "Summary", none: "no summary" },
  action_items: { title: "Action items", none: "no action items" },
  chapters: { title: "Chapters", none: "no chapters" },
  highlights: { title: "Highlights", none: "no highlights" },
  transcript: { title: "Transcript", none: "no transcript" },
};

/** Says which parts a recording doesn't have; null: it has all that were asked for. */
export function missingParts(missing: readonly DocumentPart[]): string | null {
  if (missing.length === 0) return null;
  const words = new Intl.ListFormat("en", { type: "conjunction" });
  return `This recording has ${words.format(missing.map((part) => documentPartWords[part].none))}.`;
}

/** The parts of a list with commas, in their order; what isn't one is left out. */
export function readDocumentParts(list: string): DocumentPart[] {
  const names = list.split(",");
  return documentParts.filter((part) => names.includes(part));
}
