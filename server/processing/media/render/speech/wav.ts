import { closeSync, openSync, readSync, writeSync } from "node:fs";

export const speechRate = 16_000;
const bytesPerSample = 2;

/** Writes part of a file of raw 16 kHz mono 16-bit samples as a WAV file. `start` and `end` in samples. */
export function writeWav(raw: number, path: string, start: number, end: number): void {
  const file = openSync(path, "w");
  try {
    const bytes = (end - start) * bytesPerSample;
    writeSync(file, wavHeader(bytes));
    const buffer = Buffer.allocUnsafe(1024 * 1024);
    for (let done = 0; done < bytes; ) {
      const length = Math.min(buffer.length, bytes - done);
      const count = readSync(raw, buffer, 0, length, start * bytesPerSample + done);
      if (count === 0) throw new Error("the raw audio is shorter than what was written");
      writeAll(file, buffer.subarray(0, count));
      done += count;
    }
  } finally {
    closeSync(file);
  }
}

/** A disk that fills up accepts part of a buffer before it reports an error. */
export function writeAll(file: number, buffer: Uint8Array): void {
  for (let done = 0; done < buffer.length; ) done += writeSync(file, buffer, done);
}

/** RIFF header of a file with one `fmt ` chunk (PCM) and one `data` chunk. */
function wavHeader(dataBytes: number): Buffer {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(speechRate, 24);
  header.writeUInt32LE(speechRate * bytesPerSample, 28);
  header.writeUInt16LE(bytesPerSample, 32);
  header.writeUInt16LE(8 * bytesPerSample, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
