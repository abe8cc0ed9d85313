/** A tone. */
export interface Tone {
  /** Milliseconds from the start of the audio. */
  readonly startMs: number;
  readonly endMs: number;
  /** A multiple of 50 from 200 to 1000, which `listen` can distinguish. */
  readonly hz: number;
}

/** Decoded PCM audio. */
export interface Wav {
  readonly sampleRate: number;
  readonly channels: number;
  readonly durationMs: number;
  /** 16 bit. */
  readonly samples: Int16Array;
}

const sampleRate = 16_000;

/** Creates a WAV file (16 kHz, mono, 16 bit) with tones separated by silence. */
export function makeWav(durationMs: number, tones: readonly Tone[]): Buffer {
  const samples = new Int16Array((durationMs * sampleRate) / 1000);
  for (const { startMs, endMs, hz } of tones) {
    const first = (startMs * sampleRate) / 1000;
    const last = Math.min(samples.length, (endMs * sampleRate) / 1000);
    for (let index = first; index < last; index++)
      samples[index] = Math.round(12_000 * Math.sin((2 * Math.PI * hz * (index - first)) / sampleRate));
  }
  return encodeWav(samples);
}

/** A range of a file of `makeWav` as a new file. */
export function cutWav(file: Buffer, startMs: number, endMs: number): Buffer {
  const { samples } = readWav(file);
  return encodeWav(samples.slice((startMs * sampleRate) / 1000, (endMs * sampleRate) / 1000));
}

function encodeWav(samples: Int16Array): Buffer {
  const head = Buffer.alloc(44);
  const bytes = samples.length * 2;
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + bytes, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(bytes, 40);
  return Buffer.concat([head, Buffer.from(samples.buffer, samples.byteOffset, bytes)]);
}

/** Parses a WAV file of 16 bit PCM. @throws Error if it is malformed. */
export function readWav(file: Buffer): Wav {
  const tag = (at: number): string => file.toString("latin1", at, at + 4);
  if (tag(0) !== "RIFF" || tag(8) !== "WAVE") throw new Error("the file is not a WAV file");
  let format: { channels: number; sampleRate: number } | undefined;
  for (let at = 12; at + 8 <= file.length; ) {
    const size = file.readUInt32LE(at + 4);
    const start = at + 8;
    if (tag(at) === "fmt ") {
      if (file.readUInt16LE(start) !== 1 || file.readUInt16LE(start + 14) !== 16)
        throw new Error("the file is not 16 bit PCM");
      format = { channels: file.readUInt16LE(start + 2), sampleRate: file.readUInt32LE(start + 4) };
    } else if (tag(at) === "data") {
      if (format === undefined) throw new Error("the data come before their format");
      if (start + size > file.length) throw new Error("the file is cut short");
      const samples = new Int16Array(size / 2);
      for (let index = 0; index < samples.length; index++)
        samples[index] = file.readInt16LE(start + 2 * index);
      const durationMs = Math.round((samples.length / format.channels / format.sampleRate) * 1000);
      return { ...format, durationMs, samples };
    }
    at = start + size + (size % 2);
  }
  throw new Error("the file has no data");
}

/** Silence shorter than this does not end a tone. */
const pauseMs = 60;

/** Finds the tones in mono audio by silence and zero crossings. */
export function listen({ samples, channels, sampleRate: rate }: Wav): Tone[] {
  if (channels !== 1) throw new Error(`the file has ${channels} channels`);
  const tones: Tone[] = [];
  const pause = (pauseMs * rate) / 1000;
  let first = -1;
  let last = -1;
  const end = (): void => {
    if (first < 0) return;
    let rises = 0;
    for (let index = first + 1; index <= last; index++)
      if ((samples[index - 1] ?? 0) < 0 && (samples[index] ?? 0) >= 0) rises += 1;
    const hz = Math.round((rises * rate) / (last - first) / 50) * 50;
    tones.push({ startMs: Math.round((first / rate) * 1000), endMs: Math.round((last / rate) * 1000), hz });
    first = -1;
  };
  for (let index = 0; index < samples.length; index++) {
    if (Math.abs(samples[index] ?? 0) > 500) {
      if (first >= 0 && index - last > pause) end();
      if (first < 0) first = index;
      last = index;
    }
  }
  end();
  return tones;
}
