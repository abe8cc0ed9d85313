import { readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { runProgram } from "../../models/engine/program.ts";
import { repeatsOnePhrase } from "../repetition.ts";
import type { ChunkTranscript } from "../transcriber.ts";
import { hotwordSettings, prepareHotwords } from "./hotwords.ts";
import { planPieces, type Stretch } from "./pieces.ts";
import type { RecognitionModel, SpeechRequest, SpeechResult, SpeechTask } from "./protocol.ts";
import { loadSherpa, type OfflineRecognizer, type Sherpa, vadModelPath } from "./sherpa.ts";
import { findVoices } from "./voices.ts";
import { readWords } from "./words.ts";

const sampleRate = 16_000;

/** A longer piece needs more memory: 1.1 GB at 20 s, 1.6 GB at 60 s. */
const pieceLimits = { min: 4 * sampleRate, max: 24 * sampleRate };

/**
 * Thresholds of the voice activity detector. The first one misses quiet speech and is for choosing where to cut. The other
 * one heard no speech in noise, and missed at most two seconds in a row of a real meeting with a far microphone.
 */
const clearly = 0.5;
const faintly = 0.1;

/** Silero's window. */
const windowSize = 512;

/** Where the tokens are written for hotwords; in the process's own folder. */
const vocabularyName = "tokens.vocab";

/** The program that recognizes speech. */
await runProgram<SpeechTask, SpeechRequest, number, SpeechResult>(async (task) => {
  const handle = openModel(loadSherpa(), task);
  return async ({ path }, onProgress) => handle(await readSamples(path), onProgress);
});

type Handle = (samples: Float32Array, onProgress: (fraction: number) => void) => Promise<SpeechResult>;

function openModel(sherpa: Sherpa, { model, threads: numThreads }: SpeechTask): Handle {
  if (model.kind === "detector") return async (samples) => ({ hasSpeech: hasSpeech(sherpa, samples) });
  if (model.kind === "speakers") {
    const extractor = new sherpa.SpeakerEmbeddingExtractor({
      model: model.embedding,
      numThreads,
      provider: "cpu",
      debug: 0,
    });
    return async (samples, onProgress) =>
      findVoices(extractor, samples, findSpeech(sherpa, samples, clearly), onProgress);
  }
  const hotwords =
    model.kind === "transducer" ? prepareHotwords(model.hotwords, readFileSync(model.tokens, "utf8")) : null;
  if (hotwords !== null) writeFileSync(vocabularyName, hotwords.vocabulary);
  const extra = hotwords === null ? null : hotwordSettings(vocabularyName);
  const recognizer = new sherpa.OfflineRecognizer({
    featConfig: { sampleRate, featureDim: 80 },
    modelConfig: { ...modelConfig(model), ...extra?.model, numThreads, provider: "cpu", debug: 0 },
    ...extra?.recognizer,
  });
  const decoder = { recognizer, hotwords: hotwords?.text };
  return (samples, onProgress) => transcribe(sherpa, decoder, samples, onProgress);
}

function modelConfig(model: RecognitionModel): object {
  if (model.kind === "transducer") {
    const { encoder, decoder, joiner, tokens } = model;
    return { transducer: { encoder, decoder, joiner }, tokens, modelType: "nemo_transducer" };
  }
  const { encoder, decoder, tokens, language } = model;
  return {
    whisper: {
      encoder,
      decoder,
      language: language ?? "",
      task: "transcribe",
      tailPaddings: -1,
      enableTokenTimestamps: true,
    },
    tokens,
  };
}

async function transcribe(
  sherpa: Sherpa,
  { recognizer, hotwords }: { recognizer: OfflineRecognizer; hotwords: string | undefined },
  samples: Float32Array,
  onProgress: (fraction: number) => void,
): Promise<ChunkTranscript> {
  const speech = findSpeech(sherpa, samples, clearly);
  const pieces = planPieces(samples, speech, pieceLimits);
  const words = [];
  const segments = [];
  let unclear = 0;
  let isUnclear = false;
  let language: string | null = null;
  for (const { start, end } of pieces) {
    const stream = recognizer.createStream(hotwords);
    stream.acceptWaveform({ samples: samples.slice(start, end), sampleRate });
    const result = await recognizer.decodeAsync(stream);
    const startMs = toMs(start);
    const endMs = toMs(end);
    const found = readWords(result, startMs, endMs - startMs);
    const text = result.text.trim();
    const piece = samples.subarray(start, end);
    const hasVoice = speech.some((one) => one.start < end && one.end > start) || hasSpeech(sherpa, piece);
    onProgress(end / samples.length);
    if (text === "") continue;
    if (!hasVoice || repeatsOnePhrase(text)) {
      // Several pieces in a row are one passage.
      if (!isUnclear) unclear++;
      isUnclear = true;
      continue;
    }
    isUnclear = false;
    if (found !== null) words.push(...found);
    else segments.push({ startMs, endMs, text, speaker: null });
    // Whisper writes it as <|en|>.
    language ??= result.lang?.replace(/[<|>]/g, "") || null;
  }
  return { language, durationMs: toMs(samples.length), segments, words, unclear };
}

/** Whether there is any speech, however quiet. */
function hasSpeech(sherpa: Sherpa, samples: Float32Array): boolean {
  return findSpeech(sherpa, samples, faintly).length > 0;
}

/** Where the voice activity detector hears speech. */
function findSpeech(sherpa: Sherpa, samples: Float32Array, threshold: number): Stretch[] {
  const vad = new sherpa.Vad(
    {
      sileroVad: {
        model: vadModelPath(),
        threshold,
        minSilenceDuration: 0.2,
        minSpeechDuration: 0.1,
        windowSize,
        maxSpeechDuration: 30,
      },
      sampleRate,
      numThreads: 1,
      debug: 0,
    },
    60,
  );
  const speech: Stretch[] = [];
  const collect = (): void => {
    for (; !vad.isEmpty(); vad.pop()) {
      const found = vad.front(false);
      speech.push({ start: found.start, end: found.start + found.samples.length });
    }
  };
  for (let at = 0; at + windowSize <= samples.length; at += windowSize) {
    vad.acceptWaveform(samples.subarray(at, at + windowSize));
    collect();
  }
  vad.flush();
  collect();
  return speech;
}

/** The samples of a WAV file as the media program writes it: a header of 44 bytes and 16-bit mono samples. */
async function readSamples(path: string): Promise<Float32Array> {
  const file = await readFile(path);
  const count = Math.max(0, (file.length - 44) >> 1);
  const samples = new Float32Array(count);
  for (let i = 0; i < count; i++) samples[i] = file.readInt16LE(44 + 2 * i) / 32768;
  return samples;
}

function toMs(samples: number): number {
  return Math.round((samples * 1000) / sampleRate);
}
