import { stat } from "node:fs/promises";
import { basename, dirname, relative } from "node:path";
import { formatOf } from "../../../contract/media-formats.ts";
import type { PortableEntry } from "../../../contract/portable.ts";
import type { ImportSource, SourceItem } from "../move/source.ts";
import {
  clockMs,
  listFiles,
  mediaBeside,
  mediaTypeOf,
  originOf,
  readSubtitles,
  readText,
  recordingOf,
  shortHash,
  withEnds,
} from "./disk.ts";

/** Transcripts that Otter exports as text or SubRip, with the audio of the same name. */
export async function otter(path: string): Promise<ImportSource> {
  return {
    kind: "otter",
    origin: await originOf(path),
    emails: async () => null,
    async *list(): AsyncGenerator<SourceItem> {
      const files = await listFiles(path);
      const all = new Set(files);
      for (const file of files) {
        const stem = file.slice(0, -4);
        const isSrt = /\.srt$/i.test(file);
        // The same conversation in both forms: SubRip has the ends of entries.
        if (!isSrt && !(/\.txt$/i.test(file) && !all.has(`${stem}.srt`))) continue;
        const media = mediaBeside(all, file);
        yield {
          // Another conversation may get the same name later.
          oldId: `${relative(path, stem) || basename(stem)} ${await readText(file).then(shortHash, () => "unreadable")}`,
          mediaType: mediaTypeOf(media),
          load: async () =>
            recordingOf({
              id: basename(stem),
              title: basename(stem)
                .replace(/_otter_ai$/i, "")
                .replaceAll("_", " "),
              start: (await stat(file)).mtime,
              durationMs: 0,
              people: [],
              entries: isSrt ? await readSubtitles(file) : readOtterText(await readText(file)),
              media,
            }),
        };
      }
    },
  };
}

/** Paragraphs below a line with speaker and time, as in `Ada Lovelace  1:02`. */
function readOtterText(text: string): PortableEntry[] {
  const entries: { speaker: string; start: number; text: string }[] = [];
  for (const line of text.split(/\r?\n/)) {
    // Bounded: at most 300 characters.
    const head = /^(\S.*?) {2,}(\d{1,3}(?::\d{2}){1,2}) *$/.exec(line.slice(0, 300));
    const [, speaker, time] = line.length > 300 || head === null ? [] : head;
    const last = entries.at(-1);
    if (speaker !== undefined && time !== undefined)
      entries.push({ speaker: speaker.trim(), start: clockMs(time), text: "" });
    else if (last !== undefined && line.trim() !== "" && !/^Transcribed by https:\/\/otter\.ai/.test(line))
      last.text = `${last.text} ${line.trim()}`.trim();
  }
  return withEnds(
    entries.filter((entry) => entry.text !== ""),
    0,
  );
}

/** Recordings of Zoom: of the cloud (`GMT20260115-140000_Recording_….mp4`) or of a computer, a folder for each meeting. */
export async function zoomFolder(path: string): Promise<ImportSource> {
  return {
    kind: "zoom",
    origin: await originOf(path),
    emails: async () => null,
    async *list(): AsyncGenerator<SourceItem> {
      const meetings = Map.groupBy(await listFiles(path), (file) => zoomKey(path, file));
      for (const [oldId, files] of meetings) {
        const media = await bestMedia(files);
        const transcript =
          files.find((file) => /\.vtt$/i.test(file) && !/\.cc\.vtt$/i.test(file)) ??
          files.find((file) => /\.vtt$/i.test(file));
        if (media === null && transcript === undefined) continue;
        yield {
          oldId,
          mediaType: mediaTypeOf(media),
          load: async () =>
            recordingOf({
              id: oldId,
              title: zoomTitle(path, oldId, files[0] ?? ""),
              start: zoomStart(files) ?? (await stat(files[0] ?? path)).mtime,
              durationMs: 0,
              people: [],
              entries: transcript === undefined ? [] : await readSubtitles(transcript),
              media,
              source: "zoom",
            }),
        };
      }
    },
  };
}

const cloudName = /^(GMT\d{8}-\d{6})_/;

/** Files of one meeting have the same key: their time in the cloud, or their folder. */
function zoomKey(root: string, file: string): string {
  const folder = relative(root, dirname(file));
  const time = cloudName.exec(basename(file))?.[1];
  return [folder, time].filter(Boolean).join("/") || basename(file);
}

/** The video that has the most bytes, which Zoom gives the highest resolution, or else the sound. */
async function bestMedia(files: readonly string[]): Promise<string | null> {
  const sized: { file: string; isVideo: boolean; size: number }[] = [];
  for (const file of files)
    if (formatOf(file) !== null)
      sized.push({ file, isVideo: mediaTypeOf(file) === "video", size: (await stat(file)).size });
  sized.sort((a, b) => Number(b.isVideo) - Number(a.isVideo) || b.size - a.size);
  return sized[0]?.file ?? null;
}

function zoomStart(files: readonly string[]): Date | null {
  for (const file of files) {
    const [, y, mo, d, h, mi, s] = /GMT(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)/.exec(basename(file)) ?? [];
    const [, date, hh, mm, ss] =
      /^(\d{4}-\d\d-\d\d) (\d\d)\.(\d\d)\.(\d\d)/.exec(basename(dirname(file))) ?? [];
    const text = y ? `${y}-${mo}-${d}T${h}:${mi}:${s}Z` : date ? `${date}T${hh}:${mm}:${ss}Z` : "";
    const at = new Date(text);
    if (!Number.isNaN(at.getTime())) return at;
  }
  return null;
}

/** The topic in a folder's name, or else the time. */
function zoomTitle(root: string, oldId: string, file: string): string {
  const folder = dirname(file) === root ? "" : basename(dirname(file));
  return folder.replace(/^\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d */, "").trim() || `Zoom meeting ${oldId}`;
}
