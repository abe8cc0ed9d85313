import { stat } from "node:fs/promises";
import { basename, dirname, extname, relative } from "node:path";
import { zoomTracksFolder } from "../../../../shared/files/file-groups.ts";
import { timeInName } from "../../../../shared/times/time-in-name.ts";
import {
  fileSource,
  foldedName,
  importedMeeting,
  indexMedia,
  isMedia,
  mediaTypeOf,
  readSubtitles,
  readText,
  shortHash,
} from "./disk.ts";
import { readOtterText } from "./otter-text.ts";
import type { ImportSource, SourceItem } from "./source.ts";

const stemOf = (file: string): string => file.slice(0, file.length - extname(file).length);
/** The line with the times of a cue, in subtitles that are named as a text. */
const cueTime = /^\d[\d:]{0,20}[.,]\d{1,3} --> \d/m;
const keyOf = (file: string): string => foldedName(stemOf(file));

/** Transcripts that Otter exports as text or SubRip, with the audio of the same name. */
export function otter(path: string): Promise<ImportSource> {
  return fileSource("otter", path, async function* (files, used, note): AsyncGenerator<SourceItem> {
    const allMedia = await indexMedia(files);
    const withSrt = new Set(files.filter((file) => /\.srt$/i.test(file)).map(keyOf));
    for (const file of files) {
      const isSrt = /\.srt$/i.test(file);
      const stem = stemOf(file);
      if (!isSrt && !/\.txt$/i.test(file)) continue;
      used.add(file);
      // The same conversation in both forms: SubRip has the ends of entries.
      if (!isSrt && withSrt.has(keyOf(file))) continue;
      const media = allMedia.beside(file);
      if (media !== null) used.add(media);
      yield {
        // Another conversation may get the same name later.
        oldId: `${relative(path, stem) || basename(stem)} ${await readText(file).then(shortHash, () => "unreadable")}`,
        mediaType: mediaTypeOf(media),
        load: async () => {
          const isSubtitles = isSrt || cueTime.test(await readText(file));
          const { entries, unreadLines } = isSubtitles
            ? await readSubtitles(file, { note })
            : readOtterText(basename(file), await readText(file, note));
          const named = timeInName(basename(stem));
          return importedMeeting({
            id: basename(stem),
            title: basename(stem)
              .replace(/_otter_ai$/i, "")
              .replaceAll("_", " "),
            start: named === undefined ? (await stat(file)).mtime : new Date(named),
            durationMs: 0,
            people: [],
            entries,
            media,
            omitted: unreadLines === 0 ? {} : { unread_lines: unreadLines },
          });
        },
      };
    }
  });
}

/** Recordings of Zoom: of the cloud (`GMT20260115-140000_Recording_….mp4`) or of a computer, a folder for each meeting. */
export function zoomFolder(path: string): Promise<ImportSource> {
  return fileSource("zoom", path, async function* (files, used, note): AsyncGenerator<SourceItem> {
    for (const [oldId, own] of Map.groupBy(files, (file) => zoomKey(path, file))) {
      const media = await bestMedia(own);
      const transcript =
        own.find((file) => /\.vtt$/i.test(file) && !/\.cc\.vtt$/i.test(file)) ??
        own.find((file) => /\.vtt$/i.test(file));
      for (const file of [media, transcript]) if (file != null) used.add(file);
      if (media === null && transcript === undefined) continue;
      yield {
        oldId,
        mediaType: mediaTypeOf(media),
        load: async () => {
          const { entries, unreadLines } =
            transcript === undefined
              ? { entries: [], unreadLines: 0 }
              : await readSubtitles(transcript, { note });
          return importedMeeting({
            id: oldId,
            title: zoomTitle(path, oldId, own[0] ?? ""),
            start: zoomStart(own) ?? (await stat(own[0] ?? path)).mtime,
            durationMs: 0,
            people: [],
            entries,
            media,
            source: "zoom",
            omitted: unreadLines === 0 ? {} : { unread_lines: unreadLines },
          });
        },
      };
    }
  });
}

const cloudName = /^(GMT\d{8}-\d{6})_/;

/** The folder of a meeting, also for the separate sound of its speakers. */
function meetingFolder(file: string): string {
  const folder = dirname(file);
  return basename(folder) === zoomTracksFolder ? dirname(folder) : folder;
}

/** Files of one meeting have the same key: their time in the cloud, or their folder. */
function zoomKey(root: string, file: string): string {
  const folder = relative(root, meetingFolder(file));
  const time = cloudName.exec(basename(file))?.[1];
  return [folder, time].filter(Boolean).join("/") || basename(file);
}

/** The video that has the most bytes, which Zoom gives the highest resolution, or else the sound. */
async function bestMedia(files: readonly string[]): Promise<string | null> {
  const sized: { file: string; isVideo: boolean; size: number }[] = [];
  for (const file of files)
    if (dirname(file) === meetingFolder(file) && (await isMedia(file)))
      sized.push({ file, isVideo: mediaTypeOf(file) === "video", size: (await stat(file)).size });
  sized.sort((a, b) => Number(b.isVideo) - Number(a.isVideo) || b.size - a.size);
  return sized[0]?.file ?? null;
}

function zoomStart(files: readonly string[]): Date | null {
  for (const file of files) {
    const at = timeInName(basename(file)) ?? timeInName(basename(meetingFolder(file)));
    if (at !== undefined) return new Date(at);
  }
  return null;
}

/** The topic in a folder's name, or else the time. */
function zoomTitle(root: string, oldId: string, file: string): string {
  const folder = meetingFolder(file) === root ? "" : basename(meetingFolder(file));
  return folder.replace(/^\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d */, "").trim() || `Zoom meeting ${oldId}`;
}
