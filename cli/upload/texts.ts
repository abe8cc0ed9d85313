import { readFile, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { pairFiles } from "../../shared/files/file-groups.ts";
import { decodeText } from "../../shared/files/text-encoding.ts";
import { speakersOf, TranscriptFileError } from "../../shared/transcripts/subtitles.ts";
import { describeEncoding } from "../../shared/transcripts/transcript-file.ts";
import { type ImportRequest, UploadError } from "./api.ts";

/** The files of one recording, as the command names them. */
export interface Given {
  /** The recording, or the parts that are joined to it. */
  readonly paths: readonly string[];
  readonly transcript: string | null;
  readonly chat: string | null;
}

/** The server allows 100,000 characters. */
const maxChatBytes = 90_000;

const maxParticipants = 500;

/** Finds the transcripts and chats among the files, by the same rules as the web app and watched folders. */
export function pairPaths(paths: readonly string[]): Given[] {
  const files = paths.map((path, position) => ({ path, position, name: basename(path) }));
  const folders = Map.groupBy(files, ({ path }) => dirname(path));
  const pairs = [...folders.values()].flatMap(pairFiles);
  return pairs
    .toSorted((a, b) => a.file.position - b.file.position)
    .map(({ file, transcript, chat }) => ({
      paths: [file.path],
      transcript: transcript?.path ?? null,
      chat: chat?.path ?? null,
    }));
}

/**
 * Reads the transcript and the chat of a recording.
 * @param language that is spoken, if it is known.
 * @param warn receives what could not be read and what was assumed.
 * @throws UploadError that names the file.
 */
export async function readTexts(
  { transcript, chat }: Given,
  language: string | undefined,
  warn: (message: string) => void,
): Promise<Pick<ImportRequest, "transcript" | "participants" | "notes">> {
  const segments = transcript === null ? null : await readTranscript(transcript, language, warn);
  const notes = chat === null ? "" : await readChat(chat, language, warn);
  return {
    ...(segments === null
      ? {}
      : {
          transcript: { language: "und", segments },
          participants: speakersOf(segments).slice(0, maxParticipants),
        }),
    ...(notes === "" ? {} : { notes }),
  };
}

async function readChat(
  path: string,
  language: string | undefined,
  warn: (message: string) => void,
): Promise<string> {
  const bytes = await readBytes(path, maxChatBytes);
  const { text, encoding, isAssumed } = decodeText(bytes, language === undefined ? {} : { language });
  if (isAssumed) warn(`${path}: ${describeEncoding(encoding)}`);
  return text.replaceAll("\0", "").trim();
}

async function readTranscript(path: string, language: string | undefined, warn: (message: string) => void) {
  const { maxTextBytes, parseTranscript } = await import(
    "../../server/connections/watched-folders/parse-transcript.ts"
  );
  const bytes = await readBytes(path, maxTextBytes);
  try {
    const { segments, notes } = await parseTranscript(bytes, language);
    for (const note of notes) warn(`${path}: ${note}`);
    return segments;
  } catch (error) {
    if (!(error instanceof TranscriptFileError)) throw error;
    throw new UploadError(`${path} is not a valid transcript: ${error.message}`);
  }
}

async function readBytes(path: string, maxBytes: number): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes) throw new UploadError(`${path} has ${size} bytes; the limit is ${maxBytes}`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof UploadError) throw error;
    throw new UploadError(`${path} can't be read: ${(error as Error).message}`);
  }
}
