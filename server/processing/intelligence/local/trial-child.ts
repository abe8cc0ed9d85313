import { runProgram } from "../../models/engine/program.ts";
import { openLlama } from "./llama.ts";
import type { LanguageTask, TrialResult } from "./protocol.ts";

/** Three quarters of the trial are for reading, of which there is more. */
const readMs = 15_000;
const writeMs = 5_000;
/** More than a model that takes gigabytes writes in this time. */
const maxWritten = 512;
const batch = 64;

/** The program that measures how fast a language model is on this machine. */
await runProgram<LanguageTask, { readonly maxTokens: number }, never, TrialResult>(async (task) => {
  const { model, contextSequence } = await openLlama(task);
  const [token] = model.tokenize("the");
  if (token === undefined) throw new Error("the model has no tokens");
  return async ({ maxTokens }) => {
    let read = 0;
    const startedAt = performance.now();
    while (performance.now() - startedAt < readMs && read + batch <= maxTokens) {
      await contextSequence.evaluateWithoutGeneratingNewTokens(Array.from({ length: batch }, () => token));
      read += batch;
    }
    const readAt = performance.now();
    let written = 0;
    for await (const _token of contextSequence.evaluate([token], { temperature: 0 })) {
      written += 1;
      if (performance.now() - readAt > writeMs || written >= Math.min(maxTokens, maxWritten)) break;
    }
    return {
      read: (1000 * read) / (readAt - startedAt),
      written: (1000 * Math.max(1, written)) / (performance.now() - readAt),
    };
  };
});
