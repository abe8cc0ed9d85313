import { readTranscriptFile, type TranscriptFile } from "../../../shared/transcripts/transcript-file.ts";
import { runInSlices } from "../../platform/run-in-slices.ts";

/** As long as the body of a request with a transcript. */
export const maxTextBytes = 12 * 1024 * 1024;

/** Cues are read for this long before other work gets its turn. */
const sliceMs = 20;

/**
 * Reads a transcript or captions.
 * @param language that is spoken, if it is known.
 * @throws TranscriptFileError if nothing can be read; NoTranscriptError for a JSON file of another kind.
 */
export function parseTranscript(bytes: Uint8Array, language?: string): Promise<TranscriptFile> {
  return runInSlices(readTranscriptFile(bytes, language), sliceMs);
}
