import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { z } from "zod";
import type { LocalLanguageModelSettings } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import { openScratch, type Scratch, withScratch } from "../../media/scratch.ts";
import { findLanguageModel } from "../../models/availability.ts";
import { languageWorkMb, sizeOf } from "../../models/catalogue.ts";
import type { EngineProgram } from "../../models/engine/engine.ts";
import { type EngineSession, openSession } from "../../models/engine/session.ts";
import type { InstalledModel } from "../../models/store.ts";
import type { LanguageModel, ModelRequest } from "../language-model.ts";
import { schemaPrompt } from "../server/response.ts";
import {
  LanguageProgress,
  type LanguageRequest,
  LanguageResult,
  type LanguageTask,
  maxMessageBytes,
  readShortContext,
  TrialResult,
} from "./protocol.ts";

/** What the engine needs besides its settings. */
interface Dependencies {
  readonly dataDir: string;
  readonly session: Database["session"];
}

/** A machine that takes longer for a request hangs: a model of 4 billion parameters reads nine tokens a second on two cores. */
const timeoutMs = 6 * 3_600_000;
const trialTimeoutMs = 300_000;

/**
 * The built-in language model. Its process starts with the first request, once no other engine works on this machine, and
 * ends with `close`.
 * @throws ModelServerError when no model is installed.
 */
export async function localModel(
  settings: LocalLanguageModelSettings,
  { dataDir, session }: Dependencies,
): Promise<LanguageModel> {
  const installed = await findLanguageModel(dataDir, settings.model);
  if (installed === null)
    throw new ModelServerError(
      "settings",
      settings.model === null
        ? "No language model is installed. Install one in Settings → Language model, or run: parley models install qwen3-4b"
        : `The language model ${settings.model} is not installed. Run: parley models install ${settings.model}`,
    );
  const program = programOf(installed, settings, new URL("./child.ts", import.meta.url), LanguageResult);
  const task = taskOf(installed, settings);

  let scratch: Scratch | null = null;
  let opened: EngineSession<LanguageProgress, LanguageResult> | null = null;
  const open = async ({ signal, onWait }: Pick<ModelRequest, "signal" | "onWait">) => {
    scratch ??= await openScratch(dataDir);
    opened ??= await openSession(program, {
      folder: scratch.folder,
      session,
      choose: async () => ({ installed, task }),
      onWait,
      signal,
    });
    return opened;
  };

  return {
    name: installed.name,
    async ask(request) {
      const engine = await open(request);
      const payload: LanguageRequest = {
        system: request.system,
        // Last, so that requests about the same meeting share what the model has read. The grammar alone does not say what
        // the fields mean.
        messages: request.messages.map((message, index) =>
          index < request.messages.length - 1
            ? message
            : { ...message, content: `${message.content}\n\n${schemaPrompt(request)}` },
        ),
        schema: request.schema.json,
        maxOutputTokens: request.maxOutputTokens,
      };
      return engine.request(payload, timeoutMs, {
        signal: request.signal,
        onProgress({ fraction, text }) {
          request.onProgress?.(fraction);
          if (text !== "") request.onText?.(text);
        },
      });
    },
    async close() {
      try {
        await opened?.close();
      } finally {
        await scratch?.close();
      }
    },
  };
}

function programOf<Result>(
  installed: InstalledModel,
  { contextTokens }: Pick<LocalLanguageModelSettings, "contextTokens">,
  script: URL,
  result: z.ZodType<Result>,
): EngineProgram<LanguageProgress, Result> {
  return {
    kind: "language",
    script: fileURLToPath(script),
    progress: LanguageProgress,
    result,
    maxMessageBytes,
    maxMemoryMb: languageWorkMb + Math.ceil(sizeOf(installed) / 2 ** 20),
    describeUnusable(message, log) {
      if (/NoBinaryFound|no prebuilt|Cannot find (module|package)/i.test(message))
        return `The built-in language model has no package for ${process.platform} on ${process.arch}. Use a language model server: set PARLEY_LLM_URL.`;
      const context = readShortContext(message);
      if (context !== undefined)
        return `The language model ${installed.name} reads ${context} tokens at a time, and Parley needs ${contextTokens}. Install another model.`;
      if (/not within the file bounds/.test(log))
        return `The file of the language model ${installed.name} is incomplete. Remove the model, and install it from a complete file.`;
      return `The language model ${installed.name} can't be used. Run parley models verify, and read the log.`;
    },
  };
}

function taskOf(installed: InstalledModel, settings: LocalLanguageModelSettings) {
  return async (share: (path: string) => Promise<string>): Promise<LanguageTask> => ({
    model: await share(join(installed.folder, installed.files[0]?.name ?? "")),
    threads: settings.threads,
    contextTokens: settings.contextTokens,
    usesGpu: settings.usesGpu,
  });
}

/** Measures how fast a model is on this machine, in about 20 seconds. */
export async function tryModel(
  installed: InstalledModel,
  settings: LocalLanguageModelSettings,
  { dataDir, session }: Dependencies,
  signal: AbortSignal,
): Promise<TrialResult> {
  return withScratch(dataDir, async ({ folder }) => {
    const opened = await openSession(
      programOf(installed, settings, new URL("./trial-child.ts", import.meta.url), TrialResult),
      {
        folder,
        session,
        choose: async () => ({ installed, task: taskOf(installed, settings) }),
        signal,
      },
    );
    try {
      const maxTokens = Math.floor(settings.contextTokens / 4);
      return await opened.request({ maxTokens }, trialTimeoutMs, { signal });
    } finally {
      await opened.close();
    }
  });
}
