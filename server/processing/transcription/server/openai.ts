import { text } from "node:stream/consumers";
import type { TranscriptionServerSettings } from "../../../platform/config/config.ts";
import { createModelClient } from "../../../platform/model-server/client.ts";
import { type ModelServer, type Refusal, refusalError } from "../../../platform/model-server/refusal.ts";
import { toLanguageCode } from "../languages.ts";
import { readSample } from "../sample.ts";
import type { AudioChunk, ChunkTranscript, KnownSpeaker, Transcriber } from "../transcriber.ts";
import { cutVocabulary } from "../vocabulary.ts";
import { formWithFile } from "./multipart.ts";
import { readTranscription } from "./response.ts";

export interface OpenAiLimits {
  /** How long one request may take for this much audio. */
  timeoutMs?(audioMs: number): number;
  readonly maxResponseBytes?: number;
}

/** A model without a GPU may be several times slower than speech; a dead server never responds. */
const defaultTimeoutMs = (audioMs: number): number => 60_000 + 4 * audioMs;

/** Nine minutes of speech with every token and its probability are some 2 MiB. */
const defaultMaxResponseBytes = 32 * 1024 * 1024;

/** What a server may refuse. */
type Option = "hotwords" | "references" | "diarized_json" | "words" | "verbose_json" | "prompt";

/** In the order in which they are left out where a refusal names none, with the fields that a refusal may name. */
const optionFields: readonly (readonly [Option, RegExp])[] = [
  ["hotwords", /hotwords/],
  ["references", /known_speaker/],
  ["diarized_json", /response_format|diarized_json/],
  ["words", /timestamp_granularities/],
  ["verbose_json", /response_format|verbose_json|timestamp_granularities/],
  ["prompt", /prompt/],
];

/**
 * A speech model behind OpenAI's `POST /v1/audio/transcriptions`. It requests timestamps (`verbose_json`), or speakers
 * (`diarized_json`) from a diarizing model, and falls back to `json` where the server refuses these: OpenAI's gpt-4o
 * models and vLLM's models other than Whisper return only the text. The vocabulary is sent as `prompt` and `hotwords`, and
 * samples of the speakers of earlier chunks as `known_speaker_references`. What the server refuses is left out, and
 * not sent again.
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
  const refused = new Set<Option>();

  async function send(
    audio: AudioChunk,
    fields: readonly Field[],
    signal: AbortSignal | undefined,
  ): Promise<Refusal> {
    const form = await formWithFile(fields, {
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

  return {
    recognizesSpeakers: isDiarizing(settings.model),
    async transcribe(audio, options): Promise<ChunkTranscript> {
      const { language, signal } = options;
      const hints = {
        vocabulary: cutVocabulary(options.vocabulary ?? [], maxListCharacters, (word) => word.length + 2),
        known: options.known ?? [],
      };
      const requested = new Set(optionsFor(settings.model, hints).filter((option) => !refused.has(option)));
      const leftOut: Option[] = [];
      let response: Refusal;
      for (;;) {
        response = await send(audio, await fieldsOf(settings.model, requested, language, hints), signal);
        // FastAPI responds 422 to a value it does not know.
        if (response.status !== 400 && response.status !== 422) break;
        const option = chooseRefused(requested, response.body);
        if (option === undefined) break;
        requested.delete(option);
        leftOut.push(option);
      }
      if (response.status < 200 || response.status > 299) throw refusalError(server, response);
      for (const option of leftOut) refused.add(option);
      const hasVocabulary = requested.has("prompt") || requested.has("hotwords");
      return {
        ...readTranscription(response.body, audio.endMs - audio.startMs),
        used: { model: settings.model, language, vocabulary: hasVocabulary ? hints.vocabulary : [] },
        ...(requested.has("references")
          ? { known: hints.known.map(({ name, position, label }) => ({ name, position, label })) }
          : {}),
      };
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

/** What a chunk's request may contain beside the audio. */
interface Hints {
  readonly vocabulary: readonly string[];
  readonly known: readonly KnownSpeaker[];
}

/** Everything that may be requested of a model. */
function optionsFor(model: string, { vocabulary, known }: Hints): Option[] {
  const isDiarized = isDiarizing(model);
  return [
    ...(isDiarized ? (["diarized_json"] as const) : []),
    ...(isDiarized && known.length > 0 ? (["references"] as const) : []),
    // OpenAI: "not supported when using gpt-4o-transcribe-diarize".
    ...(vocabulary.length > 0 && !isDiarized ? (["prompt", "hotwords"] as const) : []),
    "words",
    "verbose_json",
  ];
}

/** Whether leaving out an option changes the request. */
function isSent(option: Option, requested: ReadonlySet<Option>): boolean {
  if (!requested.has(option)) return false;
  if (option === "words") return formatOf(requested) === "verbose_json";
  return option !== "verbose_json" || !requested.has("diarized_json");
}

/** The option to leave out after a refusal: one that its message names, else the next. */
function chooseRefused(requested: ReadonlySet<Option>, message: string): Option | undefined {
  const sent = optionFields.filter(([option]) => isSent(option, requested));
  return (sent.find(([, fields]) => fields.test(message)) ?? sent[0])?.[0];
}

function formatOf(requested: ReadonlySet<Option>): "diarized_json" | "verbose_json" | "json" {
  if (requested.has("diarized_json")) return "diarized_json";
  return requested.has("verbose_json") ? "verbose_json" : "json";
}

/** Whisper reads the last 224 tokens of a prompt. */
const maxListCharacters = 600;

/** OpenAI's model is called gpt-4o-transcribe-diarize; others use similar names. */
function isDiarizing(model: string): boolean {
  return /diari[sz]e/i.test(model);
}

type Field = readonly [name: string, value: string];

async function fieldsOf(
  model: string,
  requested: ReadonlySet<Option>,
  language: string | null,
  { vocabulary, known }: Hints,
): Promise<Field[]> {
  const primary = language === null ? null : (toLanguageCode(language)?.split("-")[0] ?? language);
  const format = formatOf(requested);
  const list = vocabulary.join(", ");
  const references = requested.has("references") ? known : [];
  const samples = await Promise.all(references.map(({ sample }) => readSample(sample)));
  const fields: (readonly [string, string, boolean])[] = [
    ["model", model, true],
    ["response_format", format, true],
    ["temperature", "0", true],
    // The protocol takes ISO 639-1, without a region.
    ["language", primary ?? "", primary !== null],
    ["timestamp_granularities[]", "segment", format === "verbose_json"],
    ["timestamp_granularities[]", "word", isSent("words", requested)],
    // OpenAI: required of diarizing models for audio of more than 30 s.
    ["chunking_strategy", "auto", format === "diarized_json"],
    ["prompt", `${list}.`, requested.has("prompt")],
    // faster-whisper's, as Speaches takes it.
    ["hotwords", list, requested.has("hotwords")],
    ...references.map(({ name }) => ["known_speaker_names[]", name, true] as const),
    ...samples.map((sample) => ["known_speaker_references[]", sample, true] as const),
  ];
  return fields.flatMap(([name, value, isWanted]): Field[] => (isWanted ? [[name, value]] : []));
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
