import { AV_CHANNEL_LAYOUT_STEREO, AV_SAMPLE_FMT_FLTP } from "node-av/constants";
import { Rational } from "node-av/lib";
import { openEncoder } from "../encode/encoder.ts";
import { openOutput } from "../encode/output.ts";
import { check, checkWrite, newFrame, silenceLibraries } from "../libav.ts";

const sampleRate = 16_000;
/** Of an mp3 of 16 kHz. */
const samplesPerFrame = 576;

/** Encodes two channels of 16 kHz samples as a stereo mp3 by LAME, joint stereo as in the stored form. */
export function encodeStereo(path: string, [left, right]: readonly [Int16Array, Int16Array]): void {
  silenceLibraries();
  const output = openOutput(path, "mp3");
  const encoder = openEncoder(output, "libmp3lame", { compression_level: 7 }, (context) => {
    context.sampleRate = sampleRate;
    context.sampleFormat = AV_SAMPLE_FMT_FLTP;
    context.channelLayout = AV_CHANNEL_LAYOUT_STEREO;
    context.bitRate = 128_000n;
    context.timeBase = new Rational(1, sampleRate);
  });
  checkWrite(output.context.writeHeaderSync(null), "write the header");
  for (let at = 0; at < left.length; at += samplesPerFrame) {
    const planes = new Float32Array(2 * samplesPerFrame);
    for (let i = 0; i < samplesPerFrame; i++) {
      planes[i] = (left[at + i] ?? 0) / 32_768;
      planes[samplesPerFrame + i] = (right[at + i] ?? 0) / 32_768;
    }
    const frame = newFrame();
    frame.format = AV_SAMPLE_FMT_FLTP;
    frame.sampleRate = sampleRate;
    frame.channelLayout = AV_CHANNEL_LAYOUT_STEREO;
    frame.nbSamples = samplesPerFrame;
    check(frame.getBuffer(0), "allocate sound");
    check(frame.fromBuffer(Buffer.from(planes.buffer)), "fill in sound");
    frame.pts = BigInt(at);
    encoder.push(frame);
    frame.free();
  }
  encoder.push(null);
  encoder.close();
  checkWrite(output.context.writeTrailerSync(), "write the trailer");
  output.context.closeOutputSync();
}
