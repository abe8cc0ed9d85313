import { openSync, readSync, writeSync } from "node:fs";
import { writeAll } from "./wav.ts";

/** Gaps shorter than this are rounding, not silence: 50 ms at 16 kHz. */
const minHole = 800;
const bufferSamples = 64 * 1024;

/** A growing raw file of 16-bit mono samples, and its loudness. */
export interface SpeechFile {
  readonly file: number;
  /** Root mean square (1 = full scale) of each full frame, and of the rest when the file is finished. */
  readonly energies: number[];
  readonly sampleCount: () => number;
  /** Fills up with silence to a sample, so that a gap in the audio does not shift what follows. */
  moveTo(sample: number): void;
  /** @param channel of the channels that the samples have, interleaved. */
  write(samples: Int16Array, channel?: number, channels?: number): void;
  finish(): void;
  /** Replaces the frames that are 0 by silence, in the finished file. */
  keepOnly(frames: Uint8Array): void;
  /** Replaces the frames that are 1 by those of another finished file of the same length. */
  replace(frames: Uint8Array, by: SpeechFile): void;
}

export function openSpeechFile(path: string, samplesPerEnergy: number): SpeechFile {
  const file = openSync(path, "w+");
  const buffer = new Int16Array(bufferSamples);
  let buffered = 0;
  let count = 0;
  let squares = 0;
  let inStretch = 0;
  const energies: number[] = [];

  const flush = (): void => {
    writeAll(file, new Uint8Array(buffer.buffer, 0, buffered * 2));
    buffered = 0;
  };
  const closeStretch = (): void => {
    energies.push(Math.sqrt(squares / inStretch) / 32768);
    squares = 0;
    inStretch = 0;
  };
  const put = (sample: number): void => {
    buffer[buffered++] = sample;
    count += 1;
    squares += sample * sample;
    if (++inStretch === samplesPerEnergy) closeStretch();
    if (buffered === bufferSamples) flush();
  };
  const writeFrame = (frame: number, samples: Buffer): void => {
    const start = frame * samplesPerEnergy;
    const length = Math.min(samplesPerEnergy, count - start) * 2;
    for (let done = 0; done < length; )
      done += writeSync(file, samples, done, length - done, start * 2 + done);
  };
  return {
    file,
    energies,
    sampleCount: () => count,
    moveTo: (sample) => {
      if (sample - count < minHole) return;
      while (count < sample) put(0);
    },
    write: (samples, channel = 0, channels = 1) => {
      for (let i = channel; i < samples.length; i += channels) put(samples[i] as number);
    },
    finish: () => {
      if (inStretch > 0) closeStretch();
      flush();
    },
    keepOnly: (frames) => {
      const silence = Buffer.alloc(samplesPerEnergy * 2);
      for (let frame = 0; frame < energies.length; frame++) {
        if (frames[frame] !== 0 || energies[frame] === 0) continue;
        writeFrame(frame, silence);
        energies[frame] = 0;
      }
    },
    replace: (frames, by) => {
      const samples = Buffer.alloc(samplesPerEnergy * 2);
      for (let frame = 0; frame < energies.length; frame++) {
        if (frames[frame] !== 1) continue;
        readSync(by.file, samples, 0, samples.length, frame * samples.length);
        writeFrame(frame, samples);
        energies[frame] = by.energies[frame] ?? 0;
      }
    },
  };
}
