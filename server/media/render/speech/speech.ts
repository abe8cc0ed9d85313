import { closeSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openResampler } from "../encode/resample.ts";
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
import type { MediaJob, SpeechResult } from "../process/protocol.ts";
import { openSpeechFile, type SpeechFile } from "./file.ts";
import { frameMs, planChunks } from "./plan-chunks.ts";
import { speechRate, writeWav } from "./wav.ts";

const samplesPerFrame = (speechRate * frameMs) / 1000;

/**
 * In the child process: decodes the audio once into a raw file and its loudness, plans the chunks, and copies them out.
 * Memory grows by only 8 bytes per 100 ms.
 */
export function speech(
  { inputPath, outDir, maxChunkSec, overlapSec }: MediaJob & { task: "speech" },
  onProgress: (fraction: number) => void,
): SpeechResult {
  const rawPath = join(outDir, "speech.raw");
  const raw = openSpeechFile(rawPath, samplesPerFrame);
  try {
    decodeInto(raw, inputPath, (done) => onProgress(done * 0.9));
    raw.finish();
    const planned = planChunks(raw.energies, {
      maxFrames: Math.max(1, Math.floor((maxChunkSec * 1000) / frameMs)),
      overlapFrames: Math.floor((overlapSec * 1000) / frameMs),
    });
    const chunks = planned.map(({ start, end }, i) => {
      const path = join(outDir, `speech-${String(i).padStart(3, "0")}.wav`);
      const startSample = start * samplesPerFrame;
      const endSample = Math.min(end * samplesPerFrame, raw.sampleCount());
      writeWav(raw.file, path, startSample, endSample);
      onProgress(0.9 + (0.1 * (i + 1)) / planned.length);
      return { path, startMs: toMs(startSample), endMs: toMs(endSample) };
    });
    return { durationMs: toMs(raw.sampleCount()), chunks };
  } finally {
    closeSync(raw.file);
    rmSync(rawPath, { force: true });
  }
}

function decodeInto(raw: SpeechFile, inputPath: string, onProgress: (fraction: number) => void): void {
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
  const frame = newFrame();
  let packetCount = 0;
  const use = (): void => {
    const at = secondsOf(frame.bestEffortTimestamp, audio);
    // Audio that a damaged file places beyond its end is appended.
    if (at !== null && at - originSec <= totalSec + 1) raw.moveTo(Math.round((at - originSec) * speechRate));
    raw.write(resampler.convert(frame));
  };
  for (const packet of packetsOf(input)) {
    if (packet.streamIndex !== audio.index) continue;
    decode(decoder, packet, frame, use);
    if ((++packetCount & 255) === 0) onProgress(raw.sampleCount() / speechRate / Math.max(1, totalSec));
  }
  decode(decoder, null, frame, use);
  raw.write(resampler.convert(null));
  resampler.close();
  decoder.freeContext();
  frame.free();
  closeInput(input);
  if (raw.sampleCount() === 0 && packetCount > 0) {
    throw new MediaFailedError(`The audio can't be decoded: all of it is damaged. ${decodeRemedy}`);
  }
}

/** Of a file in its stored form: an mp4 begins with a box `ftyp`. */
function containerOf(path: string): "mp4" | "mp3" {
  const file = openSync(path, "r");
  const head = Buffer.alloc(8);
  readSync(file, head, 0, 8, 0);
  closeSync(file);
  return head.toString("latin1", 4) === "ftyp" ? "mp4" : "mp3";
}

function toMs(samples: number): number {
  return Math.round((samples * 1000) / speechRate);
}
