import { t } from "@lingui/core/macro";
import { type FileWithTexts as PairedFile, pairFiles } from "../../../shared/files/file-groups.ts";
import { decodeText } from "../../../shared/files/text-encoding.ts";
import { speakersOf } from "../../../shared/transcripts/subtitles.ts";
import { describeEncoding } from "../../../shared/transcripts/transcript-file.ts";
import type { TranscriptBody } from "../../api/uploads.ts";
import { bytes } from "../../common/format/bytes.ts";
import { checkFile, type FileCheck, type ShownText } from "./check-file.ts";
import { textsOf } from "./reader-texts.ts";

export { pairFiles };

/** A file to upload, with the chosen transcript and chat of the same meeting. */
export type FileWithTexts = PairedFile<File>;

/** The texts that are sent with a media file. */
export interface Texts {
  readonly transcript: TranscriptBody | null;
  /** The chat, which becomes private notes. */
  readonly notes: string | null;
  readonly participants: readonly { readonly name: string; readonly speaker_key: string }[];
  /** What could not be read of them, and what was assumed. */
  readonly warnings: readonly ShownText[];
  /** The files they come from. */
  readonly files: readonly File[];
}

const maxParticipants = 500;

/** The server allows 100,000 characters. */
const maxChatBytes = 90_000;

/** Reads the texts of a media file. @returns them, and the files that can't be used with the reason. */
export async function readTexts({ transcript, chat }: FileWithTexts): Promise<{
  texts: Texts;
  refused: readonly { readonly file: File; readonly check: FileCheck }[];
}> {
  const refused: { file: File; check: FileCheck }[] = [];
  const files: File[] = [];
  const check = transcript === null ? null : await checkFile(transcript);
  const body = check?.kind === "transcript" ? check.transcript : null;
  if (transcript !== null && check !== null)
    if (body === null) refused.push({ file: transcript, check });
    else files.push(transcript);
  const warnings =
    check?.kind === "transcript" ? check.warnings.map((text) => () => `${transcript?.name}: ${text()}`) : [];
  const notes = chat === null || chat.size > maxChatBytes ? null : await readChat(chat, warnings);
  if (chat !== null && chat.size > maxChatBytes) refused.push({ file: chat, check: tooLong(chat) });
  if (chat !== null && notes !== null) files.push(chat);
  const participants = body === null ? [] : speakersOf(body.segments).slice(0, maxParticipants);
  return { texts: { transcript: body, notes, participants, warnings, files }, refused };
}

async function readChat(file: File, warnings: ShownText[]): Promise<string | null> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { text, encoding, isAssumed } = decodeText(bytes, { language: navigator.language });
  if (isAssumed)
    for (const note of await textsOf([describeEncoding(encoding)]))
      warnings.push(() => `${file.name}: ${note()}`);
  return text.replaceAll("\0", "").trim() || null;
}

function tooLong({ size }: File): FileCheck {
  return {
    kind: "refused",
    reason: () => {
      const [given, limit] = [bytes(size), bytes(maxChatBytes)];
      return t`This chat is too large: ${given}. The limit is ${limit}.`;
    },
    advice: () => t`Shorten it. The recording is uploaded without it.`,
  };
}
