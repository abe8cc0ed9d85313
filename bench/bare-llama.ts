import { setPriority } from "node:os";
import { openLlama } from "../server/processing/intelligence/local/llama.ts";
import type { LanguageTask } from "../server/processing/intelligence/local/protocol.ts";

/** What is measured of the library itself: after so many tokens read, reading or writing so many. */
export interface BareLlamaRequest {
  readonly read: number;
  readonly write: number;
}

// As the engine's process.
setPriority(10);
const { model, contextSequence } = await openLlama(JSON.parse(process.argv[2] ?? "") as LanguageTask);
const [token] = model.tokenize("the");
if (token === undefined) throw new Error("the model has no tokens");

process.on("message", async ({ read, write }: BareLlamaRequest) => {
  await contextSequence.clearHistory();
  let startedAt = performance.now();
  await contextSequence.evaluateWithoutGeneratingNewTokens(Array.from({ length: read }, () => token));
  if (write > 0) {
    startedAt = performance.now();
    let written = 0;
    for await (const _token of contextSequence.evaluate([token], { temperature: 0 })) {
      written += 1;
      if (written === write) break;
    }
  }
  process.send?.(performance.now() - startedAt);
});
process.send?.(0);
