import { AV_NOPTS_VALUE } from "node-av/constants";
import type { MediaContainer } from "../../platform/db/json-columns.ts";
import { createCompanions, stopwatch } from "./companions.ts";
import { convert } from "./convert.ts";
import { closeInput, type Input, openInput } from "./libav.ts";
import { planMedia } from "./plan.ts";
import type { MediaJob, RenderResult } from "./process/protocol.ts";

/**
 * In the child process: converts a file to its stored form if needed, then creates what it is shown with.
 * @throws MediaFailedError, MachineError, errors of the operating system.
 */
export async function render(
  { inputPath, outDir, facts }: Pick<MediaJob & { task: "render" }, "inputPath" | "outDir" | "facts">,
  onProgress: (fraction: number) => void,
): Promise<RenderResult> {
  const { timed, stageMs } = stopwatch();
  const isVideo = facts.mediaType === "video";

  const original = await timed("open", () => openInput(inputPath, facts.container));
  const plan = planMedia(facts, original);
  // The share of the progress that the conversion to the stored form takes.
  const share = plan.form === "keep" ? 0 : plan.form === "remux" ? 0.5 : 0.9;
  const stored = await timed(plan.form, () =>
    plan.form === "keep"
      ? { path: null, durationMs: facts.durationMs }
      : convert(
          original,
          plan,
          { outDir, durationMs: facts.durationMs, startSec: startOf(original, facts.container) },
          (done) => onProgress(done * share),
        ),
  );
  closeInput(original);

  const { durationMs } = stored;
  const companions = await createCompanions(
    {
      path: stored.path ?? inputPath,
      container: stored.path === null ? facts.container : isVideo ? "mp4" : "mp3",
      isVideo,
      durationMs,
      outDir,
    },
    timed,
    (done) => onProgress(share + (1 - share) * done),
  );
  return { ...companions, mediaPath: stored.path, durationMs, stageMs };
}

/** Where a file's clock stands at its beginning. Files of the mp4 family have lists of edits for that. */
function startOf({ context }: Input, container: MediaContainer): number {
  const isOrigin = container === "mp4" || container === "mov" || container === "m4a" || container === "mp3";
  if (isOrigin || context.startTime === AV_NOPTS_VALUE) return 0;
  return Number(context.startTime) / 1_000_000;
}
