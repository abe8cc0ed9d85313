import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import { getSystemErrorName } from "node:util";
import {
  AV_DISPOSITION_ATTACHED_PIC,
  AV_LOG_QUIET,
  AV_NOPTS_VALUE,
  AV_PKT_DATA_DISPLAYMATRIX,
  AVDISCARD_ALL,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
} from "node-av/constants";
import {
  Codec,
  CodecContext,
  Dictionary,
  FFmpegError,
  FormatContext,
  Frame,
  InputFormat,
  Log,
  Packet,
  type Stream,
} from "node-av/lib";
import { fileCause } from "../../../../contract/causes/files.ts";
import type { MediaContainer } from "../../../../shared/files/media-formats.ts";
import { decodeRemedy, MachineError, MediaFailedError } from "./errors.ts";
import { exceedsStatedLength } from "./wav-length.ts";

/**
 * The decoders that files may need: the formats that cameras, phones, browsers and meeting software write. libav has
 * hundreds more, whose bugs must not affect us.
 */
const allowedDecoders: ReadonlySet<string> = new Set(
  (
    "h264 hevc mpeg4 mpeg2video mpeg1video h263 prores mjpeg dnxhd vp8 libvpx vp9 libvpx-vp9 libdav1d av1 theora " +
    "msmpeg4v2 msmpeg4 wmv1 wmv2 wmv3 vc1 flv vp6 vp6f dvvideo jpeg2000 " +
    "aac mp3float mp3 mp2float mp2 alac flac opus libopus vorbis ac3 eac3 amrnb amrwb " +
    "wmav1 wmav2 wmapro wmalossless wmavoice adpcm_ima_qt adpcm_ima_wav adpcm_ms " +
    "pcm_s8 pcm_u8 pcm_s16le pcm_s16be pcm_s24le pcm_s24be pcm_s32le pcm_s32be pcm_f32le pcm_f32be " +
    "pcm_f64le pcm_f64be pcm_mulaw pcm_alaw pcm_bluray pcm_dvd s302m aac_latm dca " +
    "speex gsm gsm_ms g722 g726 g726le g723_1 g729 adpcm_yamaha adpcm_swf nellymoser qcelp evrc ilbc"
  ).split(" "),
);

/** libav's demuxer of each container that is not of the mp4 family. */
const demuxers: Partial<Readonly<Record<MediaContainer, string>>> = {
  mp3: "mp3",
  mkv: "matroska",
  webm: "matroska",
  avi: "avi",
  wav: "wav",
  flac: "flac",
  ogg: "ogg",
  aac: "aac",
  amr: "amr",
  asf: "asf",
  mpegts: "mpegts",
  mpeg: "mpeg",
  flv: "flv",
  mxf: "mxf",
  caf: "caf",
  aiff: "aiff",
  w64: "w64",
};

/** 8K; a header that claims more is a trap for memory. */
const maxPixels = 8192 * 4320;

/** Consecutive failed reads before a file counts as ended. */
const maxFailedReads = 64;

/** An open file. */
export interface Input {
  readonly context: FormatContext;
  /** The main tracks among those that can be decoded. */
  readonly video: Stream | null;
  readonly audio: Stream | null;
  /** Every audio track that can be decoded. */
  readonly audios: readonly Stream[];
}

/** libav logs every broken packet to stderr: millions of lines for some files. */
export function silenceLibraries(): void {
  Log.setLevel(AV_LOG_QUIET);
}

/**
 * Opens a file with the demuxer of its container only, so that it cannot be taken for a playlist or a script that
 * references other files; only local files can be opened at all.
 * @param range the bytes that are the file; absent: all.
 * @throws MediaFailedError; an error of the operating system when the file cannot be opened.
 */
export function openInput(
  path: string,
  container: MediaContainer,
  range?: { readonly start: number; readonly end: number },
): Input {
  // libav's own codes for a missing file and for a broken one overlap.
  closeSync(openSync(path, "r"));
  const name = demuxers[container] ?? "mov";
  const format = InputFormat.findInputFormat(name);
  if (format === null) throw new MachineError(`libav has no demuxer ${name}`);
  const context = new FormatContext();
  context.allocContext();
  const options = Dictionary.fromObject({
    protocol_whitelist: range === undefined ? "file" : "file,subfile",
    format_whitelist: format.name,
    codec_whitelist: [...allowedDecoders].join(","),
    ...(container === "wav" && exceedsStatedLength(path, range) ? { ignore_length: "1" } : {}),
  });
  const url =
    range === undefined ? `file:${path}` : `subfile,,start,${range.start},end,${range.end},,:file:${path}`;
  const opened = context.openInputSync(url, format, options);
  options.free();
  if (opened < 0)
    throw new MediaFailedError(`The file can't be read as ${container}. ${decodeRemedy}`, describe(opened));
  const found = context.findStreamInfoSync(null);
  if (found < 0)
    throw new MediaFailedError(`The file can't be read as ${container}. ${decodeRemedy}`, describe(found));
  const streamsOf = (type: MediaType): Stream[] =>
    context.streams.filter(
      (stream) => stream.codecpar.codecType === type && isDecodable(stream) && !isCover(stream),
    );
  // libav's choice, unless we have no decoder for it: then the first that can be decoded.
  const best = (type: MediaType, streams: readonly Stream[]): Stream | null => {
    const { streamIndex } = context.findBestStream(type, -1, -1, true);
    return streams.find(({ index }) => index === streamIndex) ?? streams[0] ?? null;
  };
  const audios = streamsOf(AVMEDIA_TYPE_AUDIO);
  const videos = streamsOf(AVMEDIA_TYPE_VIDEO);
  return {
    context,
    video: best(AVMEDIA_TYPE_VIDEO, videos),
    audio: best(AVMEDIA_TYPE_AUDIO, audios),
    audios,
  };
}

type MediaType = typeof AVMEDIA_TYPE_AUDIO | typeof AVMEDIA_TYPE_VIDEO;

export function closeInput(input: Input): void {
  input.context.closeInputSync();
}

/** Makes the demuxer skip the bytes of all other streams. */
export function readOnly(input: Input, ...streams: readonly (Stream | null)[]): void {
  for (const stream of input.context.streams) {
    if (!streams.some((wanted) => wanted?.index === stream.index)) stream.discard = AVDISCARD_ALL;
  }
}

/**
 * The packets of a file in order; each is valid until the next one is requested. Damaged stretches are skipped. After a
 * seek, call it again.
 */
export function* packetsOf(input: Input): Generator<Packet, void, void> {
  const packet = new Packet();
  packet.alloc();
  try {
    let failures = 0;
    for (;;) {
      const code = input.context.readFrameSync(packet);
      if (code === AVERROR_EOF) return;
      if (code >= 0) {
        failures = 0;
        yield packet;
        packet.unref();
      } else if (++failures > maxFailedReads) return;
    }
  } finally {
    packet.free();
  }
}

/** Whether there is a decoder for a stream's codec. */
export function isDecodable({ codecpar }: Stream): boolean {
  return allowedDecoders.has(Codec.findDecoder(codecpar.codecId)?.name ?? "");
}

/** Whether a stream is a picture of the whole file, such as the cover of an album. */
export function isCover(stream: Stream): boolean {
  return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) !== 0;
}

/**
 * A decoder for a stream.
 * @param threads 1 returns each picture at once; more are faster over a long stretch.
 * @throws MediaFailedError when there is none for its codec.
 */
export function openDecoder(stream: Stream, threads: number): CodecContext {
  const isVideo = stream.codecpar.codecType === AVMEDIA_TYPE_VIDEO;
  const what = isVideo ? "picture" : "sound";
  const codec = Codec.findDecoder(stream.codecpar.codecId);
  if (codec === null || !allowedDecoders.has(codec.name ?? "")) {
    throw new MediaFailedError(
      `The ${what} can't be read: its codec${codec?.name ? ` (${codec.name})` : ""} is not supported. ` +
        `Please export the file with ${isVideo ? "h264" : "aac"}.`,
      "",
      fileCause("codec_unsupported", { wanted: isVideo ? "H.264" : "AAC" }),
    );
  }
  const context = new CodecContext();
  context.allocContext3(codec);
  context.parametersToContext(stream.codecpar);
  context.pktTimebase = stream.timeBase;
  context.threadCount = threads;
  setOptions(context, { max_pixels: maxPixels });
  const opened = context.open2Sync(codec, null);
  if (opened < 0) {
    context.freeContext();
    throw new MediaFailedError(
      `The ${what} can't be decoded: its header is damaged. ${decodeRemedy}`,
      describe(opened),
    );
  }
  return context;
}

/**
 * Feeds a packet to a decoder (null: the end) and passes on each decoded frame. A packet that cannot be decoded is
 * skipped, as players do.
 */
export function decode(decoder: CodecContext, packet: Packet | null, frame: Frame, use: () => void): void {
  // The decoder accepts the packet only after its finished frames have been fetched; every round fetches them all.
  for (let isTaken = false; !isTaken; ) {
    isTaken = decoder.sendPacketSync(packet) !== AVERROR_EAGAIN;
    let count = 0;
    while (decoder.receiveFrameSync(frame) >= 0) {
      use();
      frame.unref();
      count += 1;
    }
    if (count === 0) return;
  }
}

/** An empty frame to receive into. */
export function newFrame(): Frame {
  const frame = new Frame();
  frame.alloc();
  return frame;
}

/** Seconds; null when the file gives no time. */
export function secondsOf(timestamp: bigint, stream: Stream): number | null {
  if (timestamp === AV_NOPTS_VALUE) return null;
  return (Number(timestamp) * stream.timeBase.num) / stream.timeBase.den;
}

/** The clockwise rotation in which the picture is shown: 0, 90, 180 or 270 degrees. */
export function rotationOf(stream: Stream): number {
  const matrix = stream.codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX);
  if (matrix === null || matrix.length < 36) return 0;
  // ISO/IEC 14496-12, 8.3.2: {a, b, u, c, d, v, x, y, w}; a rotation by φ clockwise has a = cos φ, b = sin φ.
  const angle = Math.atan2(matrix.readInt32LE(4), matrix.readInt32LE(0));
  return (Math.round((angle * 2) / Math.PI) * 90 + 360) % 360;
}

/** Size in pixels as shown, after rotation and with square pixels. */
export function displaySize(stream: Stream): { width: number; height: number } {
  const { width, height, sampleAspectRatio: ratio } = stream.codecpar;
  const stretched = ratio.num > 0 && ratio.den > 0 ? Math.round((width * ratio.num) / ratio.den) : width;
  const size = { width: Math.max(1, stretched), height: Math.max(1, height) };
  return rotationOf(stream) % 180 === 0 ? size : { width: size.height, height: size.width };
}

/** For writing: the file is fine, the disk may not be. @throws MachineError, Error */
export function checkWrite(code: number, operation: string): void {
  if (code >= 0) return;
  const name = isSystemCode(code) ? getSystemErrorName(code) : null;
  if (name !== null) throw new MachineError(`${operation}: ${name}`);
  throw new Error(`${operation}: ${describe(code)}`);
}

/**
 * Sets options of a codec or container, including private ones, before it opens. (Never with the dictionary of
 * `open2Sync` or `writeHeaderSync`: libav replaces it, node-av keeps the old pointer, and the process dies of a double
 * free.)
 */
export function setOptions(
  context: CodecContext | FormatContext,
  options: Readonly<Record<string, string | number>>,
): void {
  for (const [name, value] of Object.entries(options)) {
    check(context.setOption(name, String(value)), `set ${name}`);
  }
}

/** @throws Error naming the operation. */
export function check(code: number, operation: string): void {
  if (code < 0) throw new Error(`${operation}: ${describe(code)}`);
}

function describe(code: number): string {
  return `${FFmpegError.strerror(code)} (${code})`;
}

/**
 * Whether a code is the operating system's error about the disk; libav's own are far below. EINVAL and ERANGE are
 * errors about content.
 */
export function isSystemCode(code: number): boolean {
  const { EINVAL, ERANGE } = constants.errno;
  return code > -1000 && code !== -EINVAL && code !== -ERANGE;
}
