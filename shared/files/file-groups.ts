import { foldCase } from "../fold-case.ts";
import { formatOf, likelyMediaType } from "./media-formats.ts";

/** A file by its name, relative to its folder. */
interface Named {
  readonly name: string;
}

/** The files of one recording. */
export interface FileGroup<File extends Named> {
  /** The recording, or its first part. */
  readonly main: File;
  /** The separate sound of its speakers. */
  readonly tracks: readonly { readonly file: File; readonly speaker: string }[];
  readonly transcript: File | null;
  readonly chat: File | null;
  /** Other forms of the same recording, and transcripts that are not used. */
  readonly others: readonly File[];
  readonly isZoom: boolean;
}

/** The file with the settings of a folder. */
export const settingsName = "parley.json";

/** Extensions of transcripts and captions, those that name speakers first. */
export const transcriptExtensions = ["vtt", "ttml", "dfxp", "srt", "ass", "ssa", "sbv", "json"] as const;

/** What the name of a file gets when it could not be imported. */
export const errorSuffix = ".error.txt";

/** Where Zoom stores the tracks of speakers, below the folder of the meeting. */
export const zoomTracksFolder = "Audio Record";

/** An import may have so many parts, of which one is the recording. */
const maxTracks = 19;

/** Extensions after the name of the recording: `Talk.mp4.en.vtt` has three. */
const maxExtensions = 3;

/** A group that is being put together. */
interface Draft<File> {
  readonly main: File;
  readonly tracks: { file: File; speaker: string }[];
  readonly texts: File[];
  readonly chats: File[];
  readonly others: File[];
  isZoom: boolean;
}

/** Every file of a group. */
export function filesOf<File extends Named>(group: FileGroup<File>): File[] {
  const { main, tracks, transcript, chat, others } = group;
  return [
    ...others,
    ...tracks.map(({ file }) => file),
    ...[transcript, chat].filter((file) => file !== null),
    main,
  ];
}

/** Extensions that programs give to files which they are still writing. */
const unfinishedExtensions = new Set([
  ...["part", "partial", "filepart", "crdownload", "download", "opdownload", "tmp", "temp", "aria2", "!ut"],
]);

/** Whether a file is left alone by its name: hidden, a lock of an office program, or not complete yet. */
function isUnfinished(name: string): boolean {
  const file = name.slice(name.lastIndexOf("/") + 1);
  return /^\.|^~\$|~$/.test(file) || unfinishedExtensions.has(extname(file).slice(1).toLowerCase());
}

/** Whether only its content tells if a file is a recording: its name says neither that nor what else it is. */
export function isUnknown(name: string): boolean {
  return (
    formatOf(name) === null &&
    kindOf(name) === null &&
    name.toLowerCase() !== settingsName &&
    !name.endsWith(errorSuffix) &&
    !isUnfinished(name)
  );
}

/**
 * Finds the recordings among the files of one folder, and what belongs to each. A file whose name tells nothing is a
 * recording of its own here: its content decides.
 */
export function groupFiles<File extends Named>(files: readonly File[]): FileGroup<File>[] {
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const drafts = groupMedia(sorted.filter(({ name }) => formatOf(name) !== null));
  const isOnly = drafts.length === 1;
  const ownerOf = ownersOf(drafts);
  const unknown = sorted.filter(({ name }) => isUnknown(name)).map((file) => draftOf(file));
  const unknownOwnerOf = ownersOf(unknown);
  for (const file of sorted) {
    const kind = kindOf(file.name);
    if (kind === null) continue;
    const only =
      isOnly && (kind === "chat" ? isPlainChat(file.name) : drafts[0]?.isZoom) ? drafts[0] : undefined;
    const name = kind === "chat" ? withoutChat(file.name) : file.name;
    const draft = ownerOf(name) ?? only ?? unknownOwnerOf(name);
    draft?.[kind === "chat" ? "chats" : "texts"].push(file);
  }
  return [...drafts, ...unknown].map(finish);
}

/** Finds the recording that a caption or chat file belongs to, by its name or the meeting that its name states. */
function ownersOf<File extends Named>(
  drafts: readonly Draft<File>[],
): (name: string) => Draft<File> | undefined {
  const byStem = new Map<string, Draft<File>>();
  // Null: several recordings have it.
  const byCloud = new Map<string, Draft<File> | null>();
  for (const draft of drafts) {
    const { name } = draft.main;
    for (const key of [stemOf(name), foldFileName(name)]) if (!byStem.has(key)) byStem.set(key, draft);
    for (const key of [cloudMeeting(name), cloudTime(name)])
      if (key !== null) byCloud.set(key, byCloud.has(key) && byCloud.get(key) !== draft ? null : draft);
  }
  return (name) => {
    let stem = name;
    for (let count = 0; count < maxExtensions; count += 1) {
      stem = stemOf(stem);
      const draft = byStem.get(stem);
      if (draft !== undefined) return draft;
    }
    return byCloud.get(cloudMeeting(name) ?? "") ?? byCloud.get(cloudTime(name) ?? "") ?? undefined;
  };
}

/** A file with the transcript and the chat that belong to it. */
export interface FileWithTexts<File extends Named> {
  readonly file: File;
  readonly transcript: File | null;
  readonly chat: File | null;
}

/** Finds the transcripts and chats that belong to a recording of the same folder by its name. Other files stay alone. */
export function pairFiles<File extends Named>(files: readonly File[]): FileWithTexts<File>[] {
  const groups = new Map(groupFiles(files).map((group) => [group.main, group]));
  const taken = new Set([...groups.values()].flatMap(({ transcript, chat }) => [transcript, chat]));
  return files
    .filter((file) => !taken.has(file))
    .map((file) => ({
      file,
      transcript: groups.get(file)?.transcript ?? null,
      chat: groups.get(file)?.chat ?? null,
    }));
}

function finish<File extends Named>({
  main,
  tracks,
  texts,
  chats,
  others,
  isZoom,
}: Draft<File>): FileGroup<File> {
  const [transcript = null, ...otherTexts] = texts.sort((a, b) => rankOf(a.name) - rankOf(b.name));
  const [chat = null, ...otherChats] = chats;
  const isTooMany = tracks.length > maxTracks;
  return {
    main,
    tracks: isTooMany ? [] : tracks,
    transcript,
    chat,
    others: [...others, ...(isTooMany ? tracks.map(({ file }) => file) : []), ...otherTexts, ...otherChats],
    isZoom,
  };
}

/** Transcripts come before captions, and formats with names of speakers before others. */
function rankOf(name: string): number {
  const format = transcriptExtensions.findIndex((extension) => hasExtension(name, extension));
  return format + (/\.cc\.[a-z]+$/i.test(name) ? 10 : 0);
}

/** The extension of a name with its dot; empty without one. */
function extname(name: string): string {
  const file = name.slice(name.lastIndexOf("/") + 1);
  const at = file.lastIndexOf(".");
  return at > 0 ? file.slice(at) : "";
}

/** Systems write é as one character or as two, and in names of one meeting differently. */
function foldFileName(name: string): string {
  return foldCase(name.normalize("NFC"));
}

/** Whether a file is a transcript or captions by its name. */
export function isTranscript(name: string): boolean {
  return transcriptExtensions.some((extension) => hasExtension(name, extension));
}

function hasExtension(name: string, extension: string): boolean {
  return extname(name).toLowerCase() === `.${extension}`;
}

function stemOf(name: string): string {
  return foldFileName(name.slice(0, name.length - extname(name).length));
}

function kindOf(name: string): "text" | "chat" | null {
  if (name.toLowerCase() === settingsName) return null;
  if (isTranscript(name)) return "text";
  return /chat\.txt$/i.test(name) ? "chat" : null;
}

function isPlainChat(name: string): boolean {
  return ["chat.txt", "meeting_saved_chat.txt"].includes(name.toLowerCase());
}

/** `Standup chat.txt` and `Standup.chat.txt` as `Standup.txt`. */
function withoutChat(name: string): string {
  return name.replace(/[ ._-]?chat\.txt$/i, ".txt");
}

/** The time in the names of Zoom's cloud recordings, which all files of a meeting share. */
function cloudTime(name: string): string | null {
  return /^GMT\d{8}-\d{6}/i.exec(name)?.[0].toUpperCase() ?? null;
}

/** The forms of a meeting in these names: the layout of its video, and the kinds of its texts. */
const cloudForms = /_(?:gallery|as|avo|gvo|separate)(?![a-z])|\.(?:transcript|cc)$|new$/gi;

const cloudSize = /_\d{3,4}x\d{3,4}(?!\d)/g;

/** What the names of a cloud meeting have in common. Meetings that began in the same second differ in it. */
function cloudMeeting(name: string): string | null {
  if (cloudTime(name) === null) return null;
  return `${stemOf(name).replaceAll(cloudSize, "").replaceAll(cloudForms, "")}/`;
}

/** Of the same meeting there is one file of each form. */
function cloudForm({ name }: Named): string {
  return [...(stemOf(name).match(cloudForms) ?? []), extname(name).toLowerCase()].join("");
}

function draftOf<File>(main: File, isZoom = false): Draft<File> {
  return { main, tracks: [], texts: [], chats: [], others: [], isZoom };
}

function groupMedia<File extends Named>(media: readonly File[]): Draft<File>[] {
  const mixes = media.filter(({ name }) => isZoomMix(baseOf(name)));
  const tracks = media.flatMap((file) => {
    const speaker = speakerOf(baseOf(file.name));
    return speaker === null ? [] : [{ file, speaker }];
  });
  const apart = new Set([...mixes, ...tracks.map(({ file }) => file)]);
  const drafts = joinCloud(media.filter((file) => !apart.has(file)));
  const [only] = drafts;
  if (only !== undefined && drafts.length === 1) {
    const isPart = partOf(only.main, only.isZoom);
    only.tracks.push(...tracks.filter(({ file }) => isPart(file)));
    only.others.push(...mixes.filter(isPart));
    only.isZoom ||= only.tracks.length + only.others.length > 0;
    const rest = [...mixes, ...tracks.map(({ file }) => file)].filter((file) => !isPart(file));
    return [...drafts, ...rest.map((file) => draftOf(file, isZoomMix(baseOf(file.name))))];
  }
  const [mix] = mixes;
  if (drafts.length === 0 && mixes.length === 1 && mix !== undefined) {
    const isPart = partOf(mix, isOnlyMix(mix));
    return [
      { ...draftOf(mix, true), tracks: tracks.filter(({ file }) => isPart(file)) },
      ...tracks.filter(({ file }) => !isPart(file)).map(({ file }) => draftOf(file)),
    ];
  }
  const videos = new Map(drafts.map((draft) => [numberOf(draft.main), draft]));
  for (const file of mixes) {
    const number = numberOf(file);
    const video = number === null ? undefined : videos.get(number);
    if (video === undefined) drafts.push(draftOf(file, true));
    else video.others.push(file);
  }
  return [...drafts, ...tracks.map(({ file }) => draftOf(file))];
}

/**
 * Says whether the sound of one speaker, or of all, belongs to a recording of the same folder: the recording has a name
 * that only Zoom gives, the number of the meeting is in both names, or the sound is where Zoom stores it.
 */
function partOf(main: Named, isZoom: boolean): (file: Named) => boolean {
  if (isZoom || /^zoom_\d+\.mp4$/i.test(main.name)) return () => true;
  const number = numberOf(main);
  return (file) => {
    if (file.name.startsWith(`${zoomTracksFolder}/`)) return true;
    if (number === null) return false;
    const name = baseOf(file.name).slice(0, -".m4a".length);
    if (isZoomMix(baseOf(file.name))) return isOnlyMix(file) || numberOf(file) === number;
    return number.length >= minNumberLength && name.endsWith(number);
  };
}

/** Digits of the number of a meeting; other programs number their files from 1. */
const minNumberLength = 7;

/** The number of the meeting in the names `video<number>.mp4` and `audio<number>.m4a`. */
function numberOf({ name }: Named): string | null {
  return (
    /^(?:video(\d+)\.mp4|audio(\d+)\.m4a)$/i
      .exec(baseOf(name))
      ?.slice(1)
      .find((part) => part) ?? null
  );
}

function isOnlyMix({ name }: Named): boolean {
  return /^audio_only/i.test(baseOf(name));
}

/** Zoom's cloud stores a meeting in several forms: the video with the shortest name has the default layout. */
function joinCloud<File extends Named>(files: readonly File[]): Draft<File>[] {
  const drafts: Draft<File>[] = [];
  const meetings = Map.groupBy(files, ({ name }) => cloudMeeting(name) ?? `/${name}`);
  for (const meeting of meetings.values()) {
    const isAmbiguous = new Set(meeting.map(cloudForm)).size < meeting.length;
    const [main, ...others] = meeting.toSorted(
      (a, b) => Number(isVideo(b)) - Number(isVideo(a)) || a.name.length - b.name.length,
    );
    if (main === undefined) continue;
    const isZoom = cloudTime(main.name) !== null;
    if (isAmbiguous) drafts.push(...meeting.map((file) => draftOf(file, isZoom)));
    else drafts.push({ ...draftOf(main, isZoom), others });
  }
  return drafts;
}

function isVideo({ name }: Named): boolean {
  const format = formatOf(name);
  return format !== null && likelyMediaType(format) === "video";
}

function baseOf(name: string): string {
  return name.startsWith(`${zoomTracksFolder}/`) ? name.slice(zoomTracksFolder.length + 1) : name;
}

/** The sound of all speakers together. */
function isZoomMix(name: string): boolean {
  return /^audio(?:\d+|_only(?:_\d+)?)\.m4a$/i.test(name);
}

/** The speaker of a track that Zoom names `audio<Name><number>.m4a`; null for another file. */
function speakerOf(name: string): string | null {
  const named = /^audio(.+)\.m4a$/i.exec(name)?.[1];
  if (named === undefined || isZoomMix(name)) return null;
  let end = named.length;
  while (end > 0 && /\d/.test(named.charAt(end - 1))) end -= 1;
  const speaker = named.slice(0, end);
  if (end === named.length || !/^\p{L}/u.test(speaker)) return null;
  return spaced(speaker);
}

/** Zoom removes the spaces from names: `AdaLovelace` is Ada Lovelace. */
function spaced(name: string): string {
  return name
    .replaceAll("_", " ")
    .replaceAll(/(?<=\p{Ll})(?<!Mc|Mac|De)(?=\p{Lu})/gu, " ")
    .replaceAll(/ +/g, " ")
    .trim()
    .slice(0, 320);
}
