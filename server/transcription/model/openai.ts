import { text } from "node:stream/consumers";
import type { TranscriptionServerSettings } from "../../platform/config/config.ts";
import { createModelClient } from "../../platform/model-server/client.ts";
import { type ModelServer, type Refusal, refusalError } from "../../platform/model-server/refusal.ts";
import { toLanguageCode } from "../languages.ts";
import { formWithFile } from "./multipart.ts";
import { readTranscription } from "./response.ts";
import type { AudioChunk, ChunkTranscript, TranscribeOptions, Transcriber } from "./transcriber.ts";

export interface OpenAiLimits {
  /** How long one request may take for this much audio. */
  timeoutMs?(audioMs: number): number;
  readonly maxResponseBytes?: number;
}

/** A model without a GPU may be several times slower than speech; a dead server never responds. */
const defaultTimeoutMs = (audioMs: number): number => 60_000 + 4 * audioMs;

/** Nine minutes of speech with every token and its probability are some 2 MiB. */
const defaultMaxResponseBytes = 32 * 1024 * 1024;

/** What to ask for: a response format, and whether each word is timed. */
interface Detail {
  readonly format: "verbose_json" | "diarized_json" | "json";
  readonly hasWords?: boolean;
}

/**
 * A speech model behind OpenAI's `POST /v1/audio/transcriptions`. It requests timestamps (`verbose_json`), or speakers
 * (`diarized_json`) from a diarizing model, and falls back to `json` where the server refuses these: OpenAI's gpt-4o
 * models and vLLM's models other than Whisper return only the text.
 */
export function openAiTranscriber(
  settings: TranscriptionServerSettings,
  limits: OpenAiLimits = {},
): Transcriber {
  const url = transcriptionUrl(settings.url);
  const timeoutMs = limits.timeoutMs ?? defaultTimeoutMs;
  const server = speechServer(url.host, settings.apiKey);
  const client = createModelClient(server, {
    maxResponseBytes: limits.maxResponseBytes ?? defaultMaxResponseBytes,
  });

  async function send(
    audio: AudioChunk,
    detail: Detail,
    { language, prompt, signal }: TranscribeOptions,
  ): Promise<Refusal> {
    const form = await formWithFile(fields(settings.model, detail, language, prompt), {
      name: "file",
      path: audio.path,
      // Servers recognize the file type by its name.
      fileName: "audio.wav",
      contentType: "audio/wav",
    });
    const { status, headers, body } = await client.post(url, {
      headers: {
        accept: "application/json",
        "accept-encoding": "identity",
        "content-type": form.contentType,
        "content-length": String(form.contentLength),
        "user-agent": "parley",
        ...(settings.apiKey === null ? {} : { authorization: `Bearer ${settings.apiKey}` }),
      },
      body: form.stream(),
      totalMs: timeoutMs(audio.endMs - audio.startMs),
      signal,
    });
    return { status, headers, body: await text(body) };
  }

  let detailsToTry = detailsFor(settings.model);

  return {
    async transcribe(audio, options): Promise<ChunkTranscript> {
      let detail = detailsToTry[0] as Detail;
      let response = await send(audio, detail, options);
      for (const other of detailsToTry.slice(1)) {
        // FastAPI responds 422 to a value it does not know.
        if (response.status !== 400 && response.status !== 422) break;
        detail = other;
        response = await send(audio, detail, options);
      }
      if (response.status < 200 || response.status > 299) throw refusalError(server, response);
      // What the server refused once is not asked for again.
      detailsToTry = detailsToTry.slice(detailsToTry.indexOf(detail));
      return readTranscription(response.body, audio.endMs - audio.startMs);
    },
  };
}

function speechServer(host: string, apiKey: string | null): ModelServer {
  return {
    name: "speech server",
    host,
    apiKey,
    settingsPrefix: "PARLEY_TRANSCRIPTION",
    explain: ({ status }, reason) =>
      status === 413 ? `does not accept an audio file this large (413)${reason}.` : null,
  };
}

/** What to ask for, the most detailed first. */
function detailsFor(model: string): readonly Detail[] {
  const timed: Detail[] = [
    { format: "verbose_json", hasWords: true },
    { format: "verbose_json" },
    { format: "json" },
  ];
  return isDiarizing(model) ? [{ format: "diarized_json" }, ...timed] : timed;
}

/** OpenAI's model is called gpt-4o-transcribe-diarize; others use similar names. */
function isDiarizing(model: string): boolean {
  return /diari[sz]e/i.test(model);
}

function fields(
  model: string,
  { format, hasWords = false }: Detail,
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
    ...(hasWords ? [["timestamp_granularities[]", "word"] as [string, string]] : []),
    // OpenAI: required of diarizing models for audio of more than 30 s.
    ...(format === "diarized_json" ? [["chunking_strategy", "auto"] as [string, string]] : []),
    // OpenAI: "not supported when using gpt-4o-transcribe-diarize".
    ...(prompt === undefined || isDiarizing(model) ? [] : [["prompt", prompt] as [string, string]]),
  ];
}

/**
 * The URL to send requests to: the setting may be a host, a base URL such as `https://api.openai.com/v1`, or the whole
 * URL. whisper.cpp's own `/inference` speaks the same protocol.
 */
export function transcriptionUrl(setting: string): URL {
  const url = new URL(setting);
  // Bounded: a setting.
  const path = url.pathname.replace(/\/+$/, "");
  if (/\/(audio\/transcriptions|inference)$/.test(path)) url.pathname = path;
  else if (/\/v\d+$/.test(path)) url.pathname = `${path}/audio/transcriptions`;
  else url.pathname = `${path}/v1/audio/transcriptions`;
  return url;
}
