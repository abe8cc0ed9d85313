import { join } from "node:path";
import type { Packet, Stream } from "node-av/lib";
import type { AudioTrackFacts } from "../../../../platform/db/json-columns.ts";
import { copyTrack } from "../encode/copy-track.ts";
import { type Output, openOutput } from "../encode/output.ts";
import { decodeVideo, openVideoSink, type VideoSink } from "../encode/video.ts";
import { decodeRemedy, MediaFailedError } from "../errors.ts";
import { checkWrite, decode, type Input, newFrame, openDecoder, secondsOf, setOptions } from "../libav.ts";
import { isStoredVideo } from "../plan.ts";
import { type MixTrack, openMixer } from "./mixer.ts";
import { openPcmEncoder, type PcmEncoder } from "./pcm-encoder.ts";
import { type FileToCombine, type PacketUser, readFiles } from "./read-files.ts";

/** Joined videos have the time base of MPEG. */
const joinedTimeBase = { num: 1, den: 90_000 };
/** How far outside its file damaged audio may be placed. */
const slackSec = 5;

/**
 * In the child process: writes media.mp4 or media.mp3 from several files, one after the other, with all audio tracks
 * mixed. A video has the size of the first file.
 * @throws MediaFailedError, MachineError.
 */
export function combine(
  files: readonly FileToCombine[],
  to: { readonly format: "mp4" | "mp3"; readonly outDir: string },
  onProgress: (fraction: number) => void,
): { path: string; durationMs: number } {
  const path = join(to.outDir, `media.${to.format}`);
  const output = openOutput(path, to.format);
  const totalSec = files.reduce((end, file) => Math.max(end, file.startSec + file.durationMs / 1000), 0);
  const sound = openPcmEncoder(output, to.format === "mp4" ? "aac" : "libmp3lame", 2, { bitRate: 128_000 });
  const mixer = openMixer((tracks, samples) => {
    sound.write(samples, (sample, channel) => sumOf(tracks, sample * 2 + channel));
  });
  let isBegun = false;
  let sink: VideoSink | null = null;
  /** The tracks of a file are known once it is open, and the header once the tracks are. */
  const begin = (): void => {
    if (isBegun) return;
    isBegun = true;
    if (to.format === "mp4") setOptions(output.context, { movflags: "+faststart" });
    checkWrite(output.context.writeHeaderSync(null), "write the header");
  };
  const videoOf = (file: FileToCombine, { video }: Input): PacketUser[] => {
    if (to.format === "mp3" || video === null) return [];
    if (files.length === 1 && isStoredVideo(video, file.container)) return [copyTrack(video, output)];
    sink ??= openVideoSink(output, { like: video, timeBase: joinedTimeBase });
    return [decodeVideo(video, sink, { durationMs: file.durationMs, startSec: file.startSec })];
  };
  readFiles(
    files,
    (file, input) => {
      const users = [
        ...videoOf(file, input),
        ...input.audios.map((audio) => decodeAudio(audio, mixer.openTrack(file.startSec), file)),
      ];
      begin();
      return users;
    },
    (sec) => onProgress(sec / Math.max(1, totalSec)),
  );
  // A part without sound is silent.
  mixer.finish(to.format === "mp4" ? totalSec : 0);
  sound.finish();
  (sink as VideoSink | null)?.finish();
  endOutput(output);
  sound.close();
  (sink as VideoSink | null)?.close();
  return { path, durationMs: Math.round(output.endSec() * 1000) };
}

/**
 * In the child process: writes the sound of each speaker into a channel of its own, for speech models alone.
 * @param speakers the files of each; without a list, each audio track of the one file is a speaker.
 */
export function combineSpeakers(
  speakers:
    | readonly FileToCombine[]
    | { readonly tracksOf: FileToCombine; readonly tracks: readonly AudioTrackFacts[] },
  outDir: string,
  onProgress: (fraction: number) => void,
): string {
  const path = join(outDir, "speech.webm");
  const files = "tracksOf" in speakers ? [speakers.tracksOf] : speakers;
  const count = "tracksOf" in speakers ? speakers.tracks.length : files.length;
  const output = openOutput(path, "webm");
  // Family 255: independent channels, not those of loudspeakers.
  const sound = openPcmEncoder(output, "libopus", count, { bitRate: 24_000 * count, mapping_family: 255 });
  checkWrite(output.context.writeHeaderSync(null), "write the header");
  const totalSec = files.reduce((end, file) => Math.max(end, file.durationMs / 1000), 0);
  const channelOf: number[] = [];
  const mixer = openMixer((tracks, samples) => writeChannels(sound, tracks, channelOf, samples));
  readFiles(
    files,
    (file, input) =>
      input.audios.flatMap((audio, track) => {
        const channel =
          "tracksOf" in speakers ? channelFor(audio, track, speakers.tracks) : files.indexOf(file);
        if (channel < 0 || channel >= count) return [];
        channelOf.push(channel);
        return [decodeAudio(audio, mixer.openTrack(0), file)];
      }),
    (sec) => onProgress(sec / Math.max(1, totalSec)),
  );
  mixer.finish(0);
  sound.finish();
  endOutput(output);
  sound.close();
  return path;
}

/** The channel of an audio track of a file; -1: the track is empty, so it has none. */
function channelFor({ index }: Stream, position: number, tracks: readonly AudioTrackFacts[]): number {
  // Facts of earlier versions and of mp4 files do not state the stream.
  const hasStreams = tracks.every(({ stream }) => stream !== undefined);
  return hasStreams ? tracks.findIndex(({ stream }) => stream === index) : position;
}

function writeChannels(
  sound: PcmEncoder,
  tracks: readonly Int16Array[],
  channelOf: readonly number[],
  samples: number,
): void {
  const signs = tracks.map((values) => (isInverted(values, samples) ? -1 : 1));
  sound.write(samples, (sample, channel) => {
    let sum = 0;
    for (const [index, values] of tracks.entries())
      if (channelOf[index] === channel)
        sum += ((values[sample * 2] ?? 0) + (values[sample * 2 + 1] ?? 0) * (signs[index] ?? 1)) / 2;
    return clip(sum);
  });
}

/** Whether left and right are opposite, so that their sum would be silent. */
function isInverted(values: Int16Array, samples: number): boolean {
  let sum = 0;
  let difference = 0;
  for (let sample = 0; sample < samples; sample++) {
    const [left, right] = [values[sample * 2] ?? 0, values[sample * 2 + 1] ?? 0];
    sum += (left + right) ** 2;
    difference += (left - right) ** 2;
  }
  // As in the mix of channels: unrelated sounds have as much power in their sum as in their difference.
  return sum < difference * 0.1;
}

function sumOf(tracks: readonly Int16Array[], index: number): number {
  let sum = 0;
  for (const track of tracks) sum += track[index] ?? 0;
  return clip(sum);
}

function clip(value: number): number {
  return Math.max(-32_768, Math.min(32_767, value));
}

/** Decodes an audio track into a track of the mixer. */
function decodeAudio(source: Stream, into: MixTrack, { startSec, durationMs }: FileToCombine): PacketUser {
  const decoder = openDecoder(source, 1);
  const frame = newFrame();
  const use = (): void => {
    const sec = secondsOf(frame.bestEffortTimestamp, source);
    if (sec !== null && (sec < -slackSec || sec > durationMs / 1000 + slackSec)) return;
    into.push(frame, sec === null ? null : startSec + sec);
  };
  return {
    source,
    push: (packet: Packet) => decode(decoder, packet, frame, use),
    finish: () => {
      decode(decoder, null, frame, use);
      into.end();
    },
    close: () => {
      decoder.freeContext();
      frame.free();
    },
  };
}

function endOutput(output: Output): void {
  checkWrite(output.context.writeTrailerSync(), "write the index");
  output.context.flushSync();
  checkWrite(output.context.pb?.error ?? 0, "write the file");
  output.context.closeOutputSync();
  output.context.freeContext();
  if (output.endSec() === 0)
    throw new MediaFailedError(`Nothing in the files can be decoded: all of it is damaged. ${decodeRemedy}`);
}
