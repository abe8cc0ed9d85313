import { createRequire } from "node:module";

/** The parts of sherpa-onnx-node that Parley uses; the package has no types. Only the engine's process loads it. */
export interface Sherpa {
  readonly OfflineRecognizer: new (config: object) => OfflineRecognizer;
  readonly SpeakerEmbeddingExtractor: new (config: object) => EmbeddingExtractor;
  readonly Vad: new (config: object, bufferSizeInSeconds: number) => Vad;
}

interface Waveform {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

interface OfflineStream {
  acceptWaveform(wave: Waveform): void;
  setOption(key: string, value: string): void;
}

export interface OfflineRecognizer {
  /** @param hotwords separated by slashes; only for transducers with `modified_beam_search`. */
  createStream(hotwords?: string): OfflineStream;
  decodeAsync(stream: OfflineStream): Promise<RecognizerResult>;
}

/** Times in seconds from the start of the stream. */
export interface RecognizerResult {
  readonly text: string;
  readonly tokens: readonly string[];
  readonly timestamps: readonly number[];
  readonly durations?: readonly number[];
  /** Empty where the model does not report the language. */
  readonly lang?: string;
}

interface EmbeddingStream {
  acceptWaveform(wave: Waveform): void;
  inputFinished(): void;
}

export interface EmbeddingExtractor {
  createStream(): EmbeddingStream;
  /** Whether there was enough audio. */
  isReady(stream: EmbeddingStream): boolean;
  compute(stream: EmbeddingStream, enableExternalBuffer: boolean): Float32Array;
}

interface Vad {
  acceptWaveform(samples: Float32Array): void;
  isEmpty(): boolean;
  pop(): void;
  front(enableExternalBuffer: boolean): { readonly start: number; readonly samples: Float32Array };
  flush(): void;
}

const require = createRequire(import.meta.url);

/** @throws Error where the package has no binary for this platform. */
export function loadSherpa(): Sherpa {
  return require("sherpa-onnx-node") as Sherpa;
}

/** Silero's voice activity model, the only file of the package that is used. */
export const vadModelPath = (): string => require.resolve("@ricky0123/vad-web/dist/silero_vad_v6.onnx");
