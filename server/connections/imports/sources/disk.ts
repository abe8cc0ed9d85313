import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, open, readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, sep } from "node:path";
import type { PortableEntry } from "../../../../contract/recordings/portable.ts";
import { counted, listOmitted } from "../../../../shared/counted.ts";
import { isUnknown } from "../../../../shared/files/file-groups.ts";
import { otherContent, sniffBytes } from "../../../../shared/files/media-content.ts";
import { formatOf, likelyMediaType, type MediaFormat } from "../../../../shared/files/media-formats.ts";
import { type DecodedText, decodeText } from "../../../../shared/files/text-encoding.ts";
import { foldName } from "../../../../shared/fold-case.ts";
import { runAtOnce, TranscriptFileError } from "../../../../shared/transcripts/subtitles.ts";
import { describeEncoding, readTranscriptFile } from "../../../../shared/transcripts/transcript-file.ts";
import { isSharedByUnnamed, isUnnamedSpeaker } from "../../../../shared/transcripts/unnamed-speaker.ts";
import { ImportError, RecordingError } from "./errors.ts";
import type { ImportSource, SourceItem, SourceMedia, SourceRecording } from "./source.ts";

/** A transcript or list of meetings may not be longer. */
const maxTextBytes = 256 * 1024 * 1024;
const maxDepth = 4;

/** The files of an export, and what of the folder is not looked at. */
interface Listing {
  readonly files: readonly string[];
  readonly skipped: readonly string[];
}

/** Every file below a folder, or the file itself, in the order of names. Hidden files and links are left out. */
async function listFiles(path: string, depth = 0): Promise<Listing> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new ImportError(error.code === "ENOENT" ? `${path} does not exist` : error.message);
  });
  if (!info.isDirectory()) return { files: [path], skipped: [] };
  const files: string[] = [];
  const skipped: string[] = [];
  for (const entry of (await readdir(path, { withFileTypes: true })).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    if (entry.name.startsWith(".")) continue;
    const below = join(path, entry.name);
    if (entry.isFile()) files.push(below);
    else if (entry.isDirectory() && depth < maxDepth) {
      const more = await listFiles(below, depth + 1);
      files.push(...more.files);
      skipped.push(...more.skipped);
    } else skipped.push(below);
  }
  return { files, skipped };
}

/** More names are only counted. */
const maxNamed = 10;

/** Takes a sentence for the user about a file that is read. */
export type Note = (text: string) => void;

/** Collects sentences, each once. More than a few are only counted. */
export function collectNotes(): { readonly add: Note; list(): string[] } {
  const said = new Set<string>();
  return {
    add: (text) => said.add(text),
    list: () => [
      ...[...said].slice(0, maxNamed),
      ...(said.size > maxNamed ? [`${said.size - maxNamed} more notes about files that were read`] : []),
    ],
  };
}

/**
 * An export that consists of files.
 * @param list yields its recordings, adds the files that it reads to `used`, and notes what it assumes.
 */
export async function fileSource(
  kind: string,
  path: string,
  list: (files: readonly string[], used: Set<string>, note: Note) => AsyncIterable<SourceItem>,
): Promise<ImportSource> {
  let unreadNotes: readonly string[] = [];
  const notes = collectNotes();
  return {
    kind,
    origin: await originOf(path),
    isLocal: true,
    emails: async () => null,
    notes: () => [...notes.list(), ...unreadNotes],
    async *list() {
      const { files, skipped } = await listFiles(path);
      const used = new Set<string>();
      let isEmpty = true;
      for await (const item of list(files, used, notes.add)) {
        isEmpty = false;
        yield item;
      }
      const unread = [...files.filter((file) => !used.has(file)), ...skipped].map(
        (file) => relative(path, file) || basename(file),
      );
      const named = `${unread.slice(0, maxNamed).join(", ")}${unread.length > maxNamed ? ` and ${unread.length - maxNamed} more` : ""}`;
      unreadNotes = unread.length === 0 ? [] : [`not read: ${counted(unread.length, "file")}: ${named}`];
      if (isEmpty)
        throw new ImportError(
          unread.length === 0
            ? `${path} has no files`
            : `${path} has no recordings that can be read as an export of ${kind}; it has: ${named}`,
        );
    },
  };
}

/** @throws RecordingError when the file is missing or too long for a transcript or list. */
async function readBytes(path: string): Promise<Uint8Array> {
  const info = await stat(path).catch(() => {
    throw new RecordingError(`${basename(path)} is missing`);
  });
  if (info.size > maxTextBytes) throw new RecordingError(`${basename(path)} is longer than 256 MB`);
  return readFile(path);
}

/** Reads a text file in its encoding. @throws RecordingError when it is missing or too long. */
export async function readTextFile(path: string): Promise<DecodedText> {
  return decodeText(await readBytes(path));
}

/** The text of a file. @throws RecordingError when it is missing or too long. */
export async function readText(path: string, note?: Note): Promise<string> {
  const { text, encoding, isAssumed } = await readTextFile(path);
  if (isAssumed) note?.(`${basename(path)}: ${describeEncoding(encoding)}`);
  return text;
}

/** Reads a JSON file. @throws RecordingError when it isn't one. */
export async function readJson(path: string, note?: Note): Promise<unknown> {
  try {
    return JSON.parse(await readText(path, note));
  } catch (error) {
    if (error instanceof SyntaxError) throw new RecordingError(`${basename(path)} is not JSON`);
    throw error;
  }
}

/** What was read of a transcript, and how many of its cues were not. */
interface ReadEntries {
  readonly entries: PortableEntry[];
  readonly unreadLines: number;
}

/** Reads a transcript or captions. @param language that is spoken, if it is known. */
export async function readSubtitles(
  path: string,
  { language, note }: { readonly language?: string | undefined; readonly note?: Note } = {},
): Promise<ReadEntries> {
  const bytes = await readBytes(path);
  try {
    const { segments, unread, notes } = runAtOnce(readTranscriptFile(bytes, language));
    for (const text of notes) note?.(`${basename(path)}: ${text}`);
    const entries = segments.map(({ speaker_key: speaker, start, end, text }) => ({
      participant_id: null,
      ...{ speaker, start, end, text },
    }));
    return { entries, unreadLines: unread.count };
  } catch (error) {
    if (error instanceof TranscriptFileError) throw new RecordingError(`${basename(path)}: ${error.message}`);
    throw error;
  }
}

/** Finds the media files of an export, whether their names are composed or decomposed. */
interface MediaIndex {
  /** The one with the same name as another file. */
  beside(path: string): string | null;
  /** The one that is named by a meeting's id, in any folder. */
  named(id: string): string | null;
}

export async function indexMedia(files: readonly string[]): Promise<MediaIndex> {
  const byPath = new Map<string, string>();
  const byName = new Map<string, string>();
  const named = files.filter((file) => formatOf(file) !== null);
  const others: string[] = [];
  for (const file of files) if (formatOf(file) === null && (await isMedia(file))) others.push(file);
  for (const file of [...named, ...others]) {
    const name = basename(file);
    const ends = [...name.matchAll(/\./g)].map(({ index }) => index);
    for (const end of ends.length === 0 ? [name.length] : ends) {
      const path = foldedName(file.slice(0, file.length - name.length + end));
      const stem = foldedName(name.slice(0, end));
      if (!byPath.has(path)) byPath.set(path, file);
      if (!byName.has(stem)) byName.set(stem, file);
    }
  }
  return {
    beside: (path) => byPath.get(foldedName(path.slice(0, path.length - extname(path).length))) ?? null,
    named: (id) => byName.get(foldedName(id)) ?? null,
  };
}

/** Systems write é as one character or as two. */
export function foldedName(name: string): string {
  return name.normalize("NFC");
}

/** Opens a media file for an import. */
function mediaFile(path: string | null): SourceRecording["openMedia"] {
  if (path === null) return null;
  return async (): Promise<SourceMedia> => {
    const format = formatOf(path) ?? (await formatOfContent(path));
    return { format, name: basename(path), body: createReadStream(path, { highWaterMark: 1 << 20 }) };
  };
}

/** Whether a file is a recording: by its name, or by its content where the name doesn't tell. */
export async function isMedia(path: string): Promise<boolean> {
  return formatOf(path) !== null || (isUnknown(basename(path)) && (await otherContentOf(path)) === null);
}

/** The likely format of a file whose name tells none. @throws RecordingError when it is another kind of file. */
async function formatOfContent(path: string): Promise<MediaFormat> {
  const other = await otherContentOf(path);
  if (other !== null) throw new RecordingError(`${basename(path)} is ${other} and not a recording`);
  return "mp4";
}

/** What a file is by its content if it is not a recording; otherwise null. */
async function otherContentOf(path: string): Promise<string | null> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sniffBytes), 0, sniffBytes, 0);
    return bytesRead === 0 ? "empty" : otherContent(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** A path that a file of an export names, which must stay below the export's folder. */
export async function pathBelow(folder: string, name: string): Promise<string> {
  const path = await realpath(await findSpelling(folder, name)).catch(() => {
    throw new RecordingError(`${name} is missing`);
  });
  if (!path.startsWith(`${await realpath(folder)}${sep}`))
    throw new RecordingError(`${name} is outside of the folder`);
  return path;
}

/** The path of a name. Systems write é as one character or as two, and a list is often made on another one. */
async function findSpelling(folder: string, name: string): Promise<string> {
  const given = join(folder, name);
  const isWritten = await lstat(given).then(
    () => true,
    () => false,
  );
  if (isWritten || name.normalize("NFC") === name.normalize("NFD")) return given;
  let path = folder;
  for (const part of name.split("/")) {
    const wanted = foldedName(part);
    const names = await readdir(path).catch(() => []);
    path = join(path, names.find((one) => foldedName(one) === wanted) ?? part);
  }
  return path;
}

/** The path of a file of an export. @throws RecordingError when it is a link, no file, or outside of the folder. */
export async function fileBelow(folder: string, name: string): Promise<string> {
  const path = await pathBelow(folder, name);
  const info = await lstat(await findSpelling(folder, name));
  if (!info.isFile()) throw new RecordingError(`${name} is not a regular file`);
  return path;
}

/** The name of an export: of its folder. */
export async function originOf(path: string): Promise<string> {
  const isFile = (await stat(path).catch(() => null))?.isFile() ?? false;
  return basename(isFile ? dirname(path) : path);
}

/** The beginning of a text's SHA-256, which tells texts apart in ids. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** What is known about a meeting of another service. */
export interface Meeting {
  readonly id: string;
  readonly title: string;
  readonly start: Date;
  readonly durationMs: number;
  readonly people: readonly { readonly name: string; readonly email: string | null }[];
  readonly recorderEmail?: string | null;
  readonly entries: readonly PortableEntry[];
  readonly media: string | null;
  readonly source?: SourceRecording["recording"]["source"];
  readonly tags?: readonly string[];
  readonly summary?: string | null;
  readonly language?: string | null;
  readonly actionItems?: readonly {
    readonly text: string;
    readonly timestamp: number;
    readonly isDone: boolean;
    /** Name or email. */
    readonly assignee: string | null;
  }[];
  readonly url?: string | null;
  /** What of it could not be read, by code. */
  readonly omitted?: Readonly<Record<string, number>>;
}

/** A meeting of an export as a recording. @throws RecordingError when it has nothing but its name. */
export function importedMeeting(meeting: Meeting): SourceRecording {
  const { media, entries, summary, actionItems = [] } = meeting;
  if (media === null && entries.length === 0 && !summary && actionItems.length === 0) {
    const unread = listOmitted(meeting.omitted ?? {});
    throw new RecordingError(
      `it has no transcript, media file, summary or action items${unread === "" ? "" : ` that can be read: ${unread}`}`,
    );
  }
  return recordingOf(meeting);
}

/** Speakers whom nobody named stay apart, numbered in the order in which they first speak, as everywhere. */
export function nameUnnamed(speaker: string, names: Map<string, string>): string {
  if (!isUnnamedSpeaker(speaker)) return speaker;
  if (isSharedByUnnamed(speaker)) return "Unknown Speaker";
  const key = foldName(speaker);
  const name = names.get(key) ?? `Unknown Speaker ${names.size + 1}`;
  names.set(key, name);
  return name;
}

/** A meeting as a recording: speakers become the participants of the same name or email, others are added. */
export function recordingOf(meeting: Meeting): SourceRecording {
  const people = new Map<string, { id: string; name: string; email: string | null }>();
  const byEmail = new Map<string, { id: string; name: string; email: string | null }>();
  for (const { name, email } of meeting.people) {
    const key = foldName(name || email || "");
    if (key === "" || people.has(key) || (email !== null && byEmail.has(foldName(email)))) continue;
    const person = { id: `p${people.size}`, name: name || email || "", email };
    people.set(key, person);
    if (email !== null) byEmail.set(foldName(email), person);
  }
  const find = (text: string | null) =>
    text === null ? undefined : (people.get(foldName(text)) ?? byEmail.get(foldName(text)));
  for (const { speaker } of meeting.entries)
    if (!isUnnamedSpeaker(speaker) && find(speaker) === undefined)
      people.set(foldName(speaker), { id: `p${people.size}`, name: speaker, email: null });
  const unnamed = new Map<string, string>();
  const entries = meeting.entries.map((entry) => {
    const person = find(entry.speaker);
    const speaker = person?.name ?? nameUnnamed(entry.speaker, unnamed);
    return { ...entry, participant_id: person?.id ?? null, speaker };
  });
  const lastMs = entries.reduce((last, { end }) => Math.max(last, end), 0);
  const durationMs = Math.max(meeting.durationMs, lastMs);
  const { recorderEmail: recorder } = meeting;
  return {
    recording: {
      format: "parley-recording",
      version: 1,
      id: meeting.id,
      url: meeting.url ?? null,
      title: meeting.title,
      start_datetime: meeting.start.toISOString(),
      end_datetime: new Date(meeting.start.getTime() + durationMs).toISOString(),
      duration_ms: durationMs,
      media_type: mediaTypeOf(meeting.media),
      source: meeting.source ?? "other",
      share_state: "restricted",
      tags: [...(meeting.tags ?? [])],
      teams: [],
      recorders: recorder ? [{ name: recorder, email: recorder }] : [],
      shared_users: [],
      meeting_type: null,
      meeting_type_is_automatic: true,
      participants: [...people.values()].map((person) => ({
        ...person,
        phone: null,
        scope: "unknown",
        confirmed_attendee:
          entries.length === 0 || entries.some((entry) => entry.participant_id === person.id),
        attended: true,
        crm_contact_id: null,
        observed_join_time: null,
        observed_leave_time: null,
      })),
      highlights: [],
      ai_summary: meeting.summary || null,
      ai_action_items: (meeting.actionItems ?? []).map(({ text, timestamp, isDone, assignee }) => ({
        status: isDone ? "completed" : "pending",
        timestamp,
        text,
        participant_id: find(assignee)?.id ?? null,
      })),
      ai_template_sections: [],
      calendar_event: null,
      crm: null,
      screenshares: [],
      private_notes: [],
      transcript_language: meeting.language ?? null,
    },
    entries,
    openMedia: mediaFile(meeting.media),
    derivesScopes: true,
    ...(meeting.omitted === undefined ? {} : { omitted: meeting.omitted }),
  };
}

/** The media type that a file most likely holds. */
export function mediaTypeOf(media: string | null): SourceItem["mediaType"] {
  if (media === null) return "transcript";
  const format = formatOf(media);
  return format === null ? "audio" : likelyMediaType(format);
}

/** Entries without ends last until the next one, or until the end of the meeting. */
export function withEnds(
  entries: readonly { readonly speaker: string; readonly start: number; readonly text: string }[],
  durationMs: number,
): PortableEntry[] {
  return entries.map((entry, index) => ({
    participant_id: null,
    ...entry,
    end: Math.max(entry.start, entries[index + 1]?.start ?? Math.max(durationMs, entry.start + 5000)),
  }));
}
