import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { DocumentPart } from "../../../contract/documents/document-parts.ts";

/** The titles of a document's parts. */
export const partTitles: Readonly<Record<DocumentPart, MessageDescriptor>> = {
  summary: msg`Summary`,
  action_items: msg`Action items`,
  chapters: msg`Chapters`,
  highlights: msg`Highlights`,
  transcript: msg`Transcript`,
};

/** Says that the recording doesn't have a part. */
export const missingPartTexts: Readonly<Record<DocumentPart, MessageDescriptor>> = {
  summary: msg`This recording has no summary.`,
  action_items: msg`This recording has no action items.`,
  chapters: msg`This recording has no chapters.`,
  highlights: msg`This recording has no highlights.`,
  transcript: msg`This recording has no transcript.`,
};
