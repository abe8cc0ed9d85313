import type { FastifyBaseLogger } from "fastify";
import { ModelServerError } from "../../platform/model-server/refusal.ts";
import type { SpeechDetector } from "./local/speech-detector.ts";
import type { SpeechStart } from "./local/speech-engine.ts";
import type { AudioChunk } from "./transcriber.ts";

/** Shorter parts are sent without being examined. */
const minExaminedMs = 30_000;

/**
 * Finds the parts in which nobody speaks. Where the detector does not work, none is.
 * @param folder with the parts.
 */
export async function markSilence(
  detector: SpeechDetector,
  folder: string,
  chunks: readonly AudioChunk[],
  { signal, onWait, log }: SpeechStart & { readonly log: Pick<FastifyBaseLogger, "warn"> },
): Promise<readonly AudioChunk[]> {
  const isLong = ({ startMs, endMs }: AudioChunk): boolean => endMs - startMs >= minExaminedMs;
  if (!chunks.some(isLong)) return chunks;
  try {
    const opened = await detector.open(folder, { signal, onWait });
    try {
      const marked: AudioChunk[] = [];
      for (const chunk of chunks) {
        const isSilent =
          isLong(chunk) && !(await opened.hasSpeech(chunk, signal === undefined ? {} : { signal }));
        marked.push({ ...chunk, isSilent });
      }
      return marked;
    } finally {
      await opened.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof ModelServerError)) throw error;
    log.warn(
      { err: error },
      "could not find out where nobody speaks; all audio is sent to the speech server",
    );
    return chunks;
  }
}
