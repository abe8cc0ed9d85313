import { statSync } from "node:fs";
import { AV_NOPTS_VALUE, AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_VIDEO } from "node-av/constants";
import { avGetCodecName, type Packet, type Stream } from "node-av/lib";
import { fileCause } from "../../../../contract/causes/files.ts";
import type { ConvertedContainer } from "../../../../shared/files/media-formats.ts";
import { titleInFile } from "../../../../shared/files/title-in-file.ts";
import { parseTimestamp } from "../../../../shared/times/timestamp.ts";
import { plausibleTime } from "../plausible-time.ts";
import type { MeasuredAudio, MeasuredMedia, MeasuredVideo } from "../validate/measured.ts";
import { isCutOff } from "./cut-off.ts";
import { MediaFailedError } from "./errors.ts";
import {
  closeInput,
  displaySize,
  type Input,
  isCover,
  isDecodable,
  openInput,
  packetsOf,
  readOnly,
  rotationOf,
  secondsOf,
} from "./libav.ts";
import { findLinks, maxLinks } from "./links.ts";
import type { MediaJob } from "./protocol.ts";
import { presentPart } from "./wav-length.ts";

/** More tracks than any recording has: a file that claims them is a trap. */
const maxTracks = 64;
const maxNameLength = 100;

/** Where the packets of a stream lie. */
interface Span {
  readonly stream: Stream;
  startSec: number;
  endSec: number;
  lastKeySec: number | null;
  maxKeyGapSec: number;
}

type Task = Pick<MediaJob & { task: "inspect" }, "inputPath" | "container" | "range">;

/**
 * In the child process: measures a file that is not of the mp4 or mp3 family. Its packets are read, but not decoded:
 * what browsers record states no duration, and what headers state may be wrong. Where it has several streams one after
 * the other, they are parts of the recording.
 * @throws MediaFailedError, errors of the operating system.
 */
export function inspect(task: Task, onProgress: (fraction: number) => void): MeasuredMedia {
  const { inputPath, container } = task;
  const links = findLinks(inputPath, container, task.range);
  const [first] = links;
  if (first === undefined || links.length === 1) return inspectOne(task, onProgress);
  if (links.length > maxLinks)
    throw new MediaFailedError(
      `The file consists of ${links.length} streams one after the other, at most ${maxLinks} are read: split it.`,
      "",
      fileCause("too_many_streams", { count: links.length, max: maxLinks }),
    );
  const measured: MeasuredPart[] = [];
  for (const [index, range] of links.entries()) {
    onProgress(index / links.length);
    const media = measurePart({ inputPath, container, range });
    const last = measured.at(-1);
    // What is no stream of its own is the rest of the one before.
    if (media === null && last !== undefined) last.end = range.end;
    else measured.push({ ...range, media });
  }
  const parts = measured.flatMap(({ start, end, media }) =>
    media === null ? [] : [{ start, end, container, durationSec: media.durationSec, media }],
  );
  const whole = parts.find(({ media }) => media.videos.length > 0) ?? parts[0];
  if (whole === undefined) return inspectOne(task, onProgress);
  return {
    ...whole.media,
    sizeBytes: (links.at(-1)?.end ?? 0) - first.start,
    startedAt: parts[0]?.media.startedAt,
    durationSec: parts.reduce((sum, { durationSec }) => sum + durationSec, 0),
    endsEarly: expectedOf(parts),
    parts: parts.map(({ media: _, ...part }) => part),
  };
}

/** How long the whole would be with what is missing at the ends of its parts; undefined: nothing is. */
function expectedOf(
  parts: readonly { readonly durationSec: number; readonly media: MeasuredMedia }[],
): MeasuredMedia["endsEarly"] {
  if (parts.every(({ media }) => media.endsEarly === undefined)) return undefined;
  let expectedSec = 0;
  for (const { durationSec, media } of parts) {
    const ofPart = media.endsEarly === undefined ? durationSec : media.endsEarly.expectedSec;
    if (ofPart === null) return { expectedSec: null };
    expectedSec += ofPart;
  }
  return { expectedSec };
}

interface MeasuredPart {
  readonly start: number;
  end: number;
  readonly media: MeasuredMedia | null;
}

/** Measures one of several streams; null: nothing in it can be played. */
function measurePart(task: Task): MeasuredMedia | null {
  try {
    const media = inspectOne(task, () => {});
    return media.durationSec > 0 && [...media.videos, ...media.audios].some((track) => track.isDecodable)
      ? media
      : null;
  } catch (error) {
    if (error instanceof MediaFailedError) return null;
    throw error;
  }
}

function inspectOne(
  { inputPath, container, range }: Task,
  onProgress: (fraction: number) => void,
): MeasuredMedia {
  const input = openInput(inputPath, container, range);
  const statedSec = statedLength(input, container);
  const streams = input.context.streams.filter((stream) => isMedia(stream) && !isCover(stream));
  readOnly(input, ...streams);
  const spans = new Map(streams.slice(0, maxTracks).map((stream) => [stream.index, emptySpan(stream)]));
  const sizeBytes = range === undefined ? statSync(inputPath).size : range.end - range.start;
  let count = 0;
  for (const packet of packetsOf(input)) {
    const span = spans.get(packet.streamIndex);
    if (span !== undefined) extend(span, packet);
    if ((++count & 1023) === 0 && packet.pos > 0n) onProgress(Number(packet.pos) / sizeBytes);
  }
  const there = [...spans.values()].filter(({ startSec, endSec }) => endSec > startSec);
  // Only what is in the recording decides how long it is.
  const decodable = there.filter(({ stream }) => isDecodable(stream));
  const kept = decodable.length > 0 ? decodable : there;
  const durationSec = kept.length === 0 ? 0 : max(kept, "endSec") + max(kept, "startSec", -1);
  const expectedSec = container === "wav" ? durationSec / presentPart(inputPath, range) : statedSec;
  const media = {
    container,
    sizeBytes,
    durationSec,
    videos: there.filter(({ stream }) => isVideo(stream)).map(videoOf),
    audios: there.filter(({ stream }) => !isVideo(stream)).map(({ stream }) => audioOf(stream)),
    startedAt: plausibleTime(parseTimestamp(input.context.metadata?.get("creation_time") ?? "")?.getTime()),
    title: titleOf(input, container),
    endsEarly:
      expectedSec > durationSec * 1.01 + maxMissingSec
        ? { expectedSec }
        : isCutOff(inputPath, container, range)
          ? { expectedSec: null }
          : undefined,
    isFastStart: false,
    isFragmented: false,
  };
  closeInput(input);
  return media;
}

/** Ogg keeps the tags of the file with its stream. */
function titleOf({ context, audio }: Input, container: ConvertedContainer): string | undefined {
  const tags = container === "ogg" ? audio?.metadata : context.metadata;
  return titleInFile(tags?.get("title"), tags?.get("encoder"));
}

/** Rounding and the tracks' different ends make no difference. */
const maxMissingSec = 1;

/** Containers whose header states how long the file is once it is finished; libav estimates it for others. */
const stating: ReadonlySet<ConvertedContainer> = new Set([
  "mkv",
  "webm",
  "flv",
  "avi",
  "asf",
  "flac",
  "aiff",
]);

/** How long the file is by its header; 0: it doesn't say. */
function statedLength({ context }: Input, container: ConvertedContainer): number {
  const isStated = stating.has(container) && context.duration !== AV_NOPTS_VALUE;
  return isStated ? Math.max(0, Number(context.duration)) / 1_000_000 : 0;
}

function isVideo({ codecpar }: Stream): boolean {
  return codecpar.codecType === AVMEDIA_TYPE_VIDEO;
}

function isMedia(stream: Stream): boolean {
  return isVideo(stream) || stream.codecpar.codecType === AVMEDIA_TYPE_AUDIO;
}

function emptySpan(stream: Stream): Span {
  return {
    stream,
    startSec: Number.POSITIVE_INFINITY,
    endSec: Number.NEGATIVE_INFINITY,
    lastKeySec: null,
    maxKeyGapSec: 0,
  };
}

function extend(span: Span, packet: Packet): void {
  const { stream } = span;
  const sec = secondsOf(packet.pts === AV_NOPTS_VALUE ? packet.dts : packet.pts, stream);
  if (sec === null) return;
  span.startSec = Math.min(span.startSec, sec);
  span.endSec = Math.max(span.endSec, sec + (secondsOf(packet.duration, stream) ?? 0));
  if (!packet.isKeyframe) return;
  if (span.lastKeySec !== null) span.maxKeyGapSec = Math.max(span.maxKeyGapSec, sec - span.lastKeySec);
  span.lastKeySec = sec;
}

/** The largest value of the spans; with the factor -1, the smallest with its sign changed. */
function max(spans: readonly Span[], key: "startSec" | "endSec", factor = 1): number {
  return Math.max(...spans.map((span) => factor * span[key]));
}

function videoOf({ stream, maxKeyGapSec }: Span): MeasuredVideo {
  return {
    codec: avGetCodecName(stream.codecpar.codecId) ?? "unknown",
    isDecodable: isDecodable(stream),
    ...displaySize(stream),
    codedHeight: stream.codecpar.height,
    rotation: rotationOf(stream),
    maxKeyframeGapSec: maxKeyGapSec,
  };
}

function audioOf(stream: Stream): MeasuredAudio {
  const { codecId, channels, sampleRate } = stream.codecpar;
  const tag = (name: string) => stream.metadata?.get(name)?.slice(0, maxNameLength);
  return {
    codec: avGetCodecName(codecId) ?? "unknown",
    stream: stream.index,
    isDecodable: isDecodable(stream),
    channels,
    sampleRate,
    title: tag("title"),
    language: tag("language"),
  };
}
