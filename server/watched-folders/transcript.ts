import { type Segment, TranscriptFileError } from "../../contract/subtitles.ts";
import { maxTextBytes, parseTranscript } from "./parse-transcript.ts";
import { type Place, WatchError } from "./place/index.ts";

/**
 * Reads the transcript beside a media file.
 * @returns null: a JSON file of another kind.
 * @throws WatchError when it is no valid transcript.
 */
export async function readTranscript(place: Place, path: string): Promise<Segment[] | null> {
  const text = await place.readText(path, maxTextBytes);
  try {
    return await parseTranscript(path, text);
  } catch (error) {
    if (!(error instanceof TranscriptFileError)) throw error;
    throw new WatchError(
      `${place.nameOf(path)} is not a valid transcript: ${error.message}`,
      "Correct the transcript, or remove it to have the recording transcribed if a speech model is set up.",
    );
  }
}
