import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AV_SAMPLE_FMT_FLTP } from "node-av/constants";
import type { Frame, Stream } from "node-av/lib";
import { decodeRemedy, MediaFailedError } from "./errors.ts";
import { decode, type Input, newFrame, openDecoder, packetsOf, readOnly, secondsOf } from "./libav.ts";
import { addSamples, emptyPeaks, toBytes } from "./peaks.ts";
import type { Waveform } from "./protocol.ts";

/**
 * Writes waveform.json, decoding the audio once. Without an audio track it has no peaks.
 * @throws MediaFailedError when there is audio and none of it can be decoded.
 */
export function createWaveform(
  input: Input,
  { outDir, durationMs }: { outDir: string; durationMs: number },
  onProgress: (fraction: number) => void,
): string {
  const waveform: Waveform =
    input.audio === null
      ? { version: 1, duration_ms: durationMs, peaks_per_second: 0, peaks: [] }
      : measure(input, input.audio, durationMs, onProgress);
  const path = join(outDir, "waveform.json");
  writeFileSync(path, JSON.stringify(waveform));
  return path;
}

function measure(
  input: Input,
  audio: Stream,
  durationMs: number,
  onProgress: (fraction: number) => void,
): Waveform {
  readOnly(input, audio);
  const peaks = emptyPeaks(durationMs);
  // An mp3 begins with its encoder's delay, which players skip; an mp4 counts from the beginning of the video.
  const originSec = input.context.iformat?.name === "mp3" ? (secondsOf(audio.startTime, audio) ?? 0) : 0;
  const decoder = openDecoder(audio, 1);
  const frame = newFrame();
  let packetCount = 0;
  let nextSec = 0;
  let sampleCount = 0;
  const use = (): void => {
    const at = secondsOf(frame.bestEffortTimestamp, audio);
    const startSec = at === null ? nextSec : at - originSec;
    for (const channel of channelsOf(frame)) addSamples(peaks, channel, startSec, frame.sampleRate);
    nextSec = startSec + frame.nbSamples / frame.sampleRate;
    sampleCount += frame.nbSamples;
  };
  for (const packet of packetsOf(input)) {
    if (packet.streamIndex !== audio.index) continue;
    decode(decoder, packet, frame, use);
    if ((++packetCount & 255) === 0) onProgress((nextSec * 1000) / Math.max(1, durationMs));
  }
  decode(decoder, null, frame, use);
  decoder.freeContext();
  frame.free();
  if (sampleCount === 0 && packetCount > 0) {
    throw new MediaFailedError(`The audio can't be decoded: all of it is damaged. ${decodeRemedy}`);
  }
  const perSecond = Math.round(peaks.perSecond * 1e6) / 1e6;
  return { version: 1, duration_ms: durationMs, peaks_per_second: perSecond, peaks: toBytes(peaks) };
}

/** The output of the aac and mp3 decoders: one plane of floats per channel. */
function channelsOf(frame: Frame): Float32Array[] {
  if (frame.format !== AV_SAMPLE_FMT_FLTP) throw new Error(`sample format ${frame.format}`);
  return (frame.extendedData ?? []).map(
    (plane) => new Float32Array(plane.buffer, plane.byteOffset, frame.nbSamples),
  );
}
