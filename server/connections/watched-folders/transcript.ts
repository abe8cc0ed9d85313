import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import { type Segment, TranscriptFileError } from "../../../shared/transcripts/subtitles.ts";
import { NoTranscriptError } from "../../../shared/transcripts/transcript-json.ts";
import { WatchError, type WatchedFolder } from "./folder/index.ts";
import { maxTextBytes, parseTranscript } from "./parse-transcript.ts";

/** The transcript beside a media file. */
export interface ReadTranscript {
  /** Null: the file is JSON of another kind. */
  readonly segments: Segment[] | null;
  /** Sentences for the user: what was not read, and what was assumed. */
  readonly notes: readonly string[];
}

/**
 * Reads the transcript beside a media file.
 * @param language of the workspace, which tells the encoding of old files.
 * @throws WatchError when nothing of it can be read.
 */
export async function readTranscript(
  watchedFolder: WatchedFolder,
  path: string,
  language: string | null,
): Promise<ReadTranscript> {
  const bytes = await watchedFolder.readBytes(path, maxTextBytes);
  try {
    return await parseTranscript(bytes, language ?? undefined);
  } catch (error) {
    if (error instanceof NoTranscriptError) return { segments: null, notes: [error.message] };
    if (!(error instanceof TranscriptFileError)) throw error;
    throw new WatchError(
      sentenceOf("watch_transcript", { file: watchedFolder.nameOf(path), reason: error.message }),
      sentences.watch_transcript_remedy,
    );
  }
}
