import { AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_FLTP } from "node-av/constants";
import { avChannelLayoutDefault, Rational } from "node-av/lib";
import { openEncoder } from "../encode/encoder.ts";
import type { Output } from "../encode/output.ts";
import { check, newFrame } from "../libav.ts";
import { mixRate } from "./mixer.ts";

/** Opus has frames of 20 ms, AAC of 1024 samples, mp3 of 1152. */
const frameSamples = { libopus: 960, aac: 1024, libmp3lame: 1152 } as const;

/** Encodes samples of 48 kHz. */
export interface PcmEncoder {
  /** @param at the value of a channel's sample, -32768 to 32767. */
  write(samples: number, at: (sample: number, channel: number) => number): void;
  finish(): void;
  close(): void;
}

export function openPcmEncoder(
  output: Output,
  codec: keyof typeof frameSamples,
  channels: number,
  options: Readonly<Record<string, string | number>> & { readonly bitRate: number },
): PcmEncoder {
  const size = frameSamples[codec];
  const isPlanar = codec !== "libopus";
  const format = isPlanar ? AV_SAMPLE_FMT_FLTP : AV_SAMPLE_FMT_FLT;
  const layout = avChannelLayoutDefault(channels);
  const { bitRate, ...others } = options;
  const encoder = openEncoder(output, codec, others, (context) => {
    context.sampleRate = mixRate;
    context.sampleFormat = format;
    context.channelLayout = layout;
    context.bitRate = BigInt(bitRate);
    context.timeBase = new Rational(1, mixRate);
  });
  const values = new Float32Array(size * channels);
  let filled = 0;
  let pts = 0n;
  const flush = (): void => {
    if (filled === 0) return;
    const frame = newFrame();
    Object.assign(frame, { format, sampleRate: mixRate, channelLayout: layout, nbSamples: size });
    check(frame.getBuffer(0), "allocate sound");
    check(frame.fromBuffer(Buffer.from(values.buffer)), "fill in sound");
    frame.pts = pts;
    encoder.push(frame);
    frame.free();
    pts += BigInt(size);
    filled = 0;
    values.fill(0);
  };
  return {
    write: (samples, at) => {
      for (let sample = 0; sample < samples; sample++) {
        for (let channel = 0; channel < channels; channel++)
          values[isPlanar ? channel * size + filled : filled * channels + channel] =
            at(sample, channel) / 32_768;
        filled += 1;
        if (filled === size) flush();
      }
    },
    finish: () => {
      flush();
      encoder.push(null);
    },
    close: () => encoder.close(),
  };
}
