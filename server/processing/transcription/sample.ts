import { open } from "node:fs/promises";

/** A stretch of a 16 kHz mono WAV file with 16-bit samples. */
export interface AudioSample {
  readonly path: string;
  /** Milliseconds from the start of the file. */
  readonly startMs: number;
  readonly endMs: number;
}

const headerBytes = 44;
const bytesPerMs = 32;

/** Reads a stretch of a chunk as the data URL of a WAV file. */
export async function readSample({ path, startMs, endMs }: AudioSample): Promise<string> {
  const file = await open(path);
  try {
    const header = Buffer.alloc(headerBytes);
    await file.read(header, 0, headerBytes, 0);
    const data = Buffer.alloc((endMs - startMs) * bytesPerMs);
    const { bytesRead } = await file.read(data, 0, data.length, headerBytes + startMs * bytesPerMs);
    header.writeUInt32LE(36 + bytesRead, 4);
    header.writeUInt32LE(bytesRead, 40);
    const wav = Buffer.concat([header, data.subarray(0, bytesRead)]);
    return `data:audio/wav;base64,${wav.toString("base64")}`;
  } finally {
    await file.close();
  }
}
