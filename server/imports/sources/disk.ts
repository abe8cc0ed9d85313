import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join, sep } from "node:path";
import { formatOf } from "../../../contract/media-formats.ts";
import type { PortableEntry } from "../../../contract/portable.ts";
import { parseSubtitles, TranscriptFileError } from "../../../contract/subtitles.ts";
import { ImportError, RecordingError } from "../move/errors.ts";
import type { SourceItem, SourceMedia, SourceRecording } from "../move/source.ts";

/** A transcript or list of meetings may not be longer. */
const maxTextBytes = 256 * 1024 * 1024;
const maxDepth = 4;

/** Every file below a folder, or the file itself, in the order of names. Hidden files are left out. */
export async function listFiles(path: string, depth = 0): Promise<string[]> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new ImportError(error.code === "ENOENT" ? `${path} does not exist` : error.message);
  });
  if (!info.isDirectory()) return [path];
  const files: string[] = [];
  for (const entry of (await readdir(path, { withFileTypes: true })).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    if (entry.name.startsWith(".")) continue;
    if (entry.isFile()) files.push(join(path, entry.name));
    if (entry.isDirectory() && depth < maxDepth)
      files.push(...(await listFiles(join(path, entry.name), depth + 1)));
  }
  return files;
}

/** Reads a text file. @throws RecordingError when it is missing or too long. */
export async function readText(path: string): Promise<string> {
  const info = await stat(path).catch(() => {
    throw new RecordingError(`${basename(path)} is missing`);
  });
  if (info.size > maxTextBytes) throw new RecordingError(`${basename(path)} is longer than 256 MB`);
  return readFile(path, "utf8");
}

/** Reads a JSON file. @throws RecordingError when it isn't one. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(path));
  } catch (error) {
    if (error instanceof SyntaxError) throw new RecordingError(`${basename(path)} is not JSON`);
    throw error;
  }
}

/** Reads a WebVTT or SubRip file. */
export async function readSubtitles(path: string): Promise<PortableEntry[]> {
  const file = await readText(path);
  try {
    return parseSubtitles(file).map(({ speaker_key: speaker, start, end, text }) => ({
      participant_id: null,
      speaker: /^(?:Unknown )?Speaker \d+$/.test(speaker) ? "Unknown Speaker" : speaker,
      ...{ start, end, text },
    }));
  } catch (error) {
    if (error instanceof TranscriptFileError) throw new RecordingError(`${basename(path)}: ${error.message}`);
    throw error;
  }
}

/** The media file with the same name as another file, if there is one. */
export function mediaBeside(files: ReadonlySet<string>, path: string): string | null {
  const stem = path.slice(0, path.length - extname(path).length);
  return [...files].find((file) => file.startsWith(`${stem}.`) && formatOf(file) !== null) ?? null;
}

/** Opens a media file for an import. */
function mediaFile(path: string | null): SourceRecording["openMedia"] {
  if (path === null) return null;
  return async (): Promise<SourceMedia> => {
    const format = formatOf(path);
    if (format === null) throw new RecordingError(`${basename(path)} has no format that can be imported`);
    return { format, body: createReadStream(path, { highWaterMark: 1 << 20 }) };
  };
}

/** A path that a file of an export names, which must stay below the export's folder. */
export async function pathBelow(folder: string, name: string): Promise<string> {
  const path = await realpath(join(folder, name)).catch(() => {
    throw new RecordingError(`${name} is missing`);
  });
  if (!path.startsWith(`${await realpath(folder)}${sep}`))
    throw new RecordingError(`${name} is outside of the folder`);
  return path;
}

/** The path of a file of an export. @throws RecordingError when it is a link, no file, or outside of the folder. */
export async function fileBelow(folder: string, name: string): Promise<string> {
  const path = await pathBelow(folder, name);
  const info = await lstat(join(folder, name));
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
}

/** A meeting as a recording: speakers become the participants of the same name or email, others are added. */
export function recordingOf(meeting: Meeting): SourceRecording {
  const fold = (text: string): string => text.trim().toLowerCase();
  const people = new Map<string, { id: string; name: string; email: string | null }>();
  const byEmail = new Map<string, { id: string; name: string; email: string | null }>();
  for (const { name, email } of meeting.people) {
    const key = fold(name || email || "");
    if (key === "" || people.has(key) || (email !== null && byEmail.has(fold(email)))) continue;
    const person = { id: `p${people.size}`, name: name || email || "", email };
    people.set(key, person);
    if (email !== null) byEmail.set(fold(email), person);
  }
  const find = (text: string | null) =>
    text === null ? undefined : (people.get(fold(text)) ?? byEmail.get(fold(text)));
  for (const { speaker } of meeting.entries)
    if (speaker !== "Unknown Speaker" && find(speaker) === undefined)
      people.set(fold(speaker), { id: `p${people.size}`, name: speaker, email: null });
  const entries = meeting.entries.map((entry) => {
    const person = find(entry.speaker);
    return { ...entry, participant_id: person?.id ?? null, speaker: person?.name ?? entry.speaker };
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
  };
}

/** The media type that a file most likely holds. */
export function mediaTypeOf(media: string | null): SourceItem["mediaType"] {
  if (media === null) return "transcript";
  return ["mp4", "mov", "m4v", "mkv", "webm", "avi", "wmv", "3gp"].includes(formatOf(media) ?? "")
    ? "video"
    : "audio";
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

/** `1:02:03` or `2:03` in milliseconds; 0 for anything else. */
export function clockMs(text: string): number {
  if (!/^\d{1,3}(?::\d{1,2}){1,2}(?:\.\d{1,3})?$/.test(text)) return 0;
  return Math.round(text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0) * 1000);
}
