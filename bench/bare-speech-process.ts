import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadSherpa } from "../server/processing/transcription/local/sherpa.ts";

/** What the baseline of speech recognition works on. */
export interface BareSpeechTask {
  /** The folder with the four files of a transducer. */
  readonly model: string;
  /** 16-bit mono samples at 16 kHz behind a header of 44 bytes. */
  readonly wav: string;
  readonly threads: number;
}

const sampleRate = 16_000;
/** As long as Parley's longest pieces. */
const pieceSamples = 24 * sampleRate;

/** Recognizes a file in pieces of the same length, one after the other, and reports how long that took, with loading. */
process.on("message", async ({ model, wav, threads }: BareSpeechTask) => {
  const startedAt = performance.now();
  const file = (name: string): string => join(model, name);
  const recognizer = new (loadSherpa().OfflineRecognizer)({
    featConfig: { sampleRate, featureDim: 80 },
    modelConfig: {
      transducer: {
        encoder: file("encoder.int8.onnx"),
        decoder: file("decoder.int8.onnx"),
        joiner: file("joiner.int8.onnx"),
      },
      tokens: file("tokens.txt"),
      modelType: "nemo_transducer",
      numThreads: threads,
      provider: "cpu",
      debug: 0,
    },
  });
  const bytes = readFileSync(wav);
  let words = 0;
  for (let at = 44; at < bytes.length; at += 2 * pieceSamples) {
    const piece = bytes.subarray(at, at + 2 * pieceSamples);
    const samples = Float32Array.from(
      { length: piece.length >> 1 },
      (_, i) => piece.readInt16LE(2 * i) / 32768,
    );
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples, sampleRate });
    words += (await recognizer.decodeAsync(stream)).tokens.length;
  }
  process.send?.({ seconds: (performance.now() - startedAt) / 1000, words });
});
