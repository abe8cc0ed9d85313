import { closeSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { layoutOf, openResampler, type Resampler } from "../encode/resample.ts";
import { decodeRemedy, MediaFailedError } from "../errors.ts";
import {
  closeInput,
  decode,
  newFrame,
  openDecoder,
  openInput,
  packetsOf,
  readOnly,
  secondsOf,
} from "../libav.ts";
import type { MediaJob, SpeechChunk, SpeechResult } from "../protocol.ts";
import { findCancelled, separateChannels } from "./channels.ts";
import { openSpeechFile, type SpeechFile } from "./file.ts";
import { type Chunk, frameMs, planChunks } from "./plan-chunks.ts";
import { speechRate, writeWav } from "./wav.ts";

const samplesPerFrame = (speechRate * frameMs) / 1000;

/** More channels than this are mixed. */
const maxChannels = 8;
/** A chunk of a channel that stays below this, -60 dB of full scale, has no sound. */
const silence = 0.001;

/** The decoded audio: mixed, and each channel where there are several. */
interface Decoded {
  /** Whether each channel is known to be one speaker. */
  readonly isSeparate: boolean;
  readonly mix: SpeechFile;
  readonly channels: SpeechFile[];
}

/** A file to cut into chunks. */
interface Source {
  readonly raw: SpeechFile;
  /** Absent: all channels mixed. */
  readonly channel?: number;
}

/**
 * In the child process: decodes the audio once into raw files and their loudness, plans the chunks, and copies them out.
 * Memory grows by only 8 bytes per 100 ms and channel.
 */
export function speech(
  job: MediaJob & { task: "speech" },
  onProgress: (fraction: number) => void,
): SpeechResult {
  const { inputPath, outDir } = job;
  const opened: { raw: SpeechFile; path: string }[] = [];
  const open = (name: string): SpeechFile => {
    const path = join(outDir, `${name}.raw`);
    const raw = openSpeechFile(path, samplesPerFrame);
    opened.push({ raw, path });
    return raw;
  };
  try {
    const decoded: Decoded = {
      isSeparate: containerOf(inputPath) === "webm",
      mix: open("speech"),
      channels: [],
    };
    decodeInto(
      decoded,
      (channel) => open(`speech-channel-${channel}`),
      inputPath,
      (done) => onProgress(done * 0.9),
    );
    for (const { raw } of opened) raw.finish();
    const chunks = writeChunks(sourcesOf(decoded), job, (done) => onProgress(0.9 + 0.1 * done));
    return { durationMs: toMs(decoded.mix.sampleCount()), chunks };
  } finally {
    for (const { raw, path } of opened) {
      closeSync(raw.file);
      rmSync(path, { force: true });
    }
  }
}

/** The channels if each carries a voice of its own, otherwise the mix. */
function sourcesOf({ isSeparate, mix, channels }: Decoded): Source[] {
  if (isSeparate && channels.length > 1) return channels.map((raw, channel) => ({ raw, channel }));
  const energies = channels.map((channel) => channel.energies);
  const own = separateChannels(energies);
  if (own === null) {
    const cancelled = findCancelled(mix.energies, energies);
    const by = cancelled === null ? undefined : channels[cancelled.channel];
    if (cancelled !== null && by !== undefined) mix.replace(cancelled.frames, by);
    return [{ raw: mix }];
  }
  return channels.map((raw, channel) => {
    raw.keepOnly(own[channel] ?? new Uint8Array(0));
    return { raw, channel };
  });
}

function writeChunks(
  sources: readonly Source[],
  { outDir, maxChunkSec, overlapSec }: MediaJob & { task: "speech" },
  onProgress: (fraction: number) => void,
): SpeechChunk[] {
  const options = {
    maxFrames: Math.max(1, Math.floor((maxChunkSec * 1000) / frameMs)),
    overlapFrames: Math.floor((overlapSec * 1000) / frameMs),
  };
  const planned = sources.flatMap((source) =>
    planChunks(source.raw.energies, options)
      .filter((chunk) => source.channel === undefined || hasSound(source.raw, chunk))
      .map((chunk) => ({ ...source, ...chunk })),
  );
  return planned.map(({ raw, channel, start, end }, i) => {
    const path = join(outDir, `speech-${String(i).padStart(3, "0")}.wav`);
    const startSample = start * samplesPerFrame;
    const endSample = Math.min(end * samplesPerFrame, raw.sampleCount());
    writeWav(raw.file, path, startSample, endSample);
    onProgress((i + 1) / planned.length);
    const chunk = { path, startMs: toMs(startSample), endMs: toMs(endSample) };
    return channel === undefined ? chunk : { ...chunk, channel };
  });
}

function hasSound({ energies }: SpeechFile, { start, end }: Chunk): boolean {
  for (let frame = start; frame < end; frame++) if ((energies[frame] ?? 0) > silence) return true;
  return false;
}

/** @param openChannel creates the file of a channel; called when the first frame shows how many there are. */
function decodeInto(
  decoded: Decoded,
  openChannel: (channel: number) => SpeechFile,
  inputPath: string,
  onProgress: (fraction: number) => void,
): void {
  const { mix, channels } = decoded;
  const input = openInput(inputPath, containerOf(inputPath));
  const { audio } = input;
  if (audio === null) {
    closeInput(input);
    return;
  }
  readOnly(input, audio);
  const totalSec = Number(input.context.duration) / 1e6;
  const originSec = input.context.iformat?.name === "mp3" ? (secondsOf(audio.startTime, audio) ?? 0) : 0;
  const decoder = openDecoder(audio, 1);
  const resampler = openResampler(speechRate);
  let splitter: Resampler | null = null;
  const frame = newFrame();
  let packetCount = 0;
  const split = (samples: Int16Array | undefined): void => {
    if (samples === undefined) return;
    for (const [channel, raw] of channels.entries()) raw.write(samples, channel, channels.length);
  };
  const use = (): void => {
    if (
      mix.sampleCount() === 0 &&
      splitter === null &&
      frame.channels >= 2 &&
      frame.channels <= maxChannels
    ) {
      splitter = openResampler(speechRate, layoutOf(frame));
      for (let channel = 0; channel < frame.channels; channel++) channels.push(openChannel(channel));
    }
    const at = secondsOf(frame.bestEffortTimestamp, audio);
    // Audio that a damaged file places beyond its end is appended.
    if (at !== null && at - originSec <= totalSec + 1)
      for (const raw of [mix, ...channels]) raw.moveTo(Math.round((at - originSec) * speechRate));
    mix.write(resampler.convert(frame));
    split(splitter?.convert(frame));
  };
  for (const packet of packetsOf(input)) {
    if (packet.streamIndex !== audio.index) continue;
    decode(decoder, packet, frame, use);
    if ((++packetCount & 255) === 0) onProgress(mix.sampleCount() / speechRate / Math.max(1, totalSec));
  }
  decode(decoder, null, frame, use);
  mix.write(resampler.convert(null));
  resampler.close();
  split((splitter as Resampler | null)?.convert(null));
  (splitter as Resampler | null)?.close();
  decoder.freeContext();
  frame.free();
  closeInput(input);
  if (mix.sampleCount() === 0 && packetCount > 0) {
    throw new MediaFailedError(`The audio can't be decoded: all of it is damaged. ${decodeRemedy}`);
  }
}

/** Of a file in its stored form, an mp4 begins with a box `ftyp`; the sound of speakers is in a WebM, which has a magic number. */
function containerOf(path: string): "mp4" | "mp3" | "webm" {
  const file = openSync(path, "r");
  const head = Buffer.alloc(8);
  readSync(file, head, 0, 8, 0);
  closeSync(file);
  if (head.readUInt32BE(0) === 0x1a45dfa3) return "webm";
  return head.toString("latin1", 4) === "ftyp" ? "mp4" : "mp3";
}

function toMs(samples: number): number {
  return Math.round((samples * 1000) / speechRate);
}
