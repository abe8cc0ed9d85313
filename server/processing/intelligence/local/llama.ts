import { isAbsolute } from "node:path";
import { type LanguageTask, shortContext } from "./protocol.ts";

/** Opens the library with a model. Only the engine's process does. */
export async function openLlama(task: LanguageTask) {
  // The library asks for the home folder when it is loaded, and the confined user has none.
  process.env.HOME = process.cwd();
  const { getLlama, LlamaLogLevel, resolveChatWrapper } = await import("node-llama-cpp");
  const llama = await getLlama({
    gpu: task.usesGpu ? "auto" : false,
    // Never builds or downloads anything.
    build: "never",
    skipDownload: true,
    progressLogs: false,
    logLevel: LlamaLogLevel.error,
    maxThreads: task.threads,
  });
  // Mapped, a model takes its size twice: its weights are copied into another order.
  const model = await llama.loadModel({ modelPath: reachable(task.model), useMmap: task.usesGpu });
  // Requests are planned for this many tokens.
  if (model.trainContextSize < task.contextTokens) throw new Error(shortContext(model.trainContextSize));
  const context = await model.createContext({
    contextSize: task.contextTokens,
    threads: task.threads,
    sequences: 1,
  });
  const contextSequence = context.getSequence();
  const chatWrapper = resolveChatWrapper(model, {
    customWrapperSettings: { qwen: { thoughts: "discourage" } },
  });
  return { llama, model, context, contextSequence, chatWrapper };
}

/**
 * The path of a file as the library can open it: it makes paths absolute, and the folders above the working folder may be
 * closed to the confined user, who exists on Linux only.
 */
function reachable(path: string): string {
  return isAbsolute(path) || process.platform !== "linux" ? path : `/proc/self/cwd/${path}`;
}
