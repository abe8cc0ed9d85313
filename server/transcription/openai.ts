import type { TranscriptionSettings } from "../config.ts";
import { readAnswer } from "./answer.ts";
import { toLanguageCode } from "./languages.ts";
import { formWithFile } from "./multipart.ts";
import { type HttpAnswer, postForm } from "./post.ts";
import { refusal } from "./refusal.ts";
import type { AudioChunk, ChunkTranscript, TranscribeOptions, Transcriber } from "./transcriber.ts";

export interface OpenAiLimits {
  /** How long one request may take for so much audio. */
  timeoutMs?(audioMs: number): number;
  readonly maxAnswerBytes?: number;
}

/** A model on a processor without help may be several times slower than speech; a dead server says nothing for ever. */
const defaultTimeoutMs = (audioMs: number): number => 60_000 + 4 * audioMs;

/** Nine minutes of speech with every token and its probability are some 2 MiB. */
const defaultMaxAnswerBytes = 32 * 1024 * 1024;

type ResponseFormat = "verbose_json" | "diarized_json" | "json";

/**
 * A speech model behind OpenAI's `POST /v1/audio/transcriptions`. It asks for timestamps (`verbose_json`), or for
 * speakers (`diarized_json`) where the model is one that tells them, and falls back to `json` where the server refuses
 * that: OpenAI's gpt-4o models and vLLM's other than Whisper give the text alone.
 */
export function openAiTranscriber(settings: TranscriptionSettings, limits: OpenAiLimits = {}): Transcriber {
  const url = transcriptionUrl(settings.url);
  const timeoutMs = limits.timeoutMs ?? defaultTimeoutMs;
  const maxAnswerBytes = limits.maxAnswerBytes ?? defaultMaxAnswerBytes;

  async function ask(
    audio: AudioChunk,
    format: ResponseFormat,
    { language, prompt, signal }: TranscribeOptions,
  ): Promise<HttpAnswer> {
    const form = await formWithFile(fields(settings.model, format, language, prompt), {
      name: "file",
      path: audio.path,
      // Servers tell the kind of file by its name.
      fileName: "audio.wav",
      contentType: "audio/wav",
    });
    return postForm(url, form, {
      bearer: settings.apiKey,
      timeoutMs: timeoutMs(audio.endMs - audio.startMs),
      maxAnswerBytes,
      signal,
    });
  }

  return {
    async transcribe(audio, options): Promise<ChunkTranscript> {
      let answer: HttpAnswer | undefined;
      for (const format of formatsFor(settings.model)) {
        answer = await ask(audio, format, options);
        // 422 is what FastAPI says of a value it does not know.
        if (answer.status !== 400 && answer.status !== 422) break;
      }
      if (answer === undefined || answer.status < 200 || answer.status > 299)
        throw refusal(url, answer, settings.apiKey);
      return readAnswer(answer.body, audio.endMs - audio.startMs);
    },
  };
}

/** Which forms of answer to ask for, the most telling first. */
function formatsFor(model: string): readonly ResponseFormat[] {
  return isDiarizing(model) ? ["diarized_json", "verbose_json", "json"] : ["verbose_json", "json"];
}

/** OpenAI's model is called gpt-4o-transcribe-diarize, and others follow. */
function isDiarizing(model: string): boolean {
  return /diari[sz]e/i.test(model);
}

function fields(
  model: string,
  format: ResponseFormat,
  language: string | null,
  prompt: string | undefined,
): [name: string, value: string][] {
  const primary = language === null ? null : (toLanguageCode(language)?.split("-")[0] ?? language);
  return [
    ["model", model],
    ["response_format", format],
    ["temperature", "0"],
    // The protocol takes ISO 639-1, without a region.
    ...(primary === null ? [] : [["language", primary] as [string, string]]),
    ...(format === "verbose_json" ? [["timestamp_granularities[]", "segment"] as [string, string]] : []),
    // OpenAI: required of diarizing models for audio of more than 30 s.
    ...(format === "diarized_json" ? [["chunking_strategy", "auto"] as [string, string]] : []),
    // OpenAI: "not supported when using gpt-4o-transcribe-diarize".
    ...(prompt === undefined || isDiarizing(model) ? [] : [["prompt", prompt] as [string, string]]),
  ];
}

/**
 * Where to send requests: the setting may be a host, a base address such as `https://api.openai.com/v1`, or the whole
 * address. whisper.cpp's own `/inference` speaks the same protocol.
 */
export function transcriptionUrl(setting: string): URL {
  const url = new URL(setting);
  const path = url.pathname.replace(/\/+$/, "");
  if (/\/(audio\/transcriptions|inference)$/.test(path)) url.pathname = path;
  else if (/\/v\d+$/.test(path)) url.pathname = `${path}/audio/transcriptions`;
  else url.pathname = `${path}/v1/audio/transcriptions`;
  return url;
}
