import { fileCause } from "../../../../contract/causes/files.ts";
import type { MediaFacts } from "../../../platform/db/json-columns.ts";
import { startOf } from "./clock.ts";
import { combine, combineSpeakers } from "./combine/combine.ts";
import type { FileToCombine } from "./combine/read-files.ts";
import {
  attempt,
  createCompanions,
  describeStored,
  expectedCompanions,
  noCompanions,
  stopwatch,
  type Timed,
} from "./companions.ts";
import { convert } from "./convert.ts";
import { MediaFailedError } from "./errors.ts";
import { closeInput, openInput } from "./libav.ts";
import { type MediaPlan, planMedia } from "./plan.ts";
import type { CompanionFailure, MediaJob, RenderResult, StoredMedia } from "./protocol.ts";

type Task = Pick<MediaJob & { task: "render" }, "inputPath" | "outDir" | "facts" | "audioTracks">;

/** The stored form; without a path, the uploaded file has it already. */
interface Stored {
  readonly path: string | null;
  readonly durationMs: number;
}

/** Speakers with a track of their own; more are only mixed. */
const maxSpeakers = 8;

/**
 * In the child process: converts a file to its stored form if needed, then creates what it is shown with.
 * @param onStored called once the stored form is complete, with the result if the rest fails.
 * @throws MediaFailedError, MachineError, errors of the operating system.
 */
export async function render(
  task: Task,
  onProgress: (fraction: number) => void,
  onStored: (result: RenderResult) => void = () => {},
): Promise<RenderResult> {
  const { timed, stageMs } = stopwatch();
  const { inputPath, outDir, facts } = task;
  const isVideo = facts.mediaType === "video";
  const files = filesOf(task);
  const isCombined = files.length > 1 || isMixed(task);
  // The share of the progress that the conversion to the stored form takes.
  let share = isCombined ? 0.9 : 0;
  const stored = isCombined
    ? await timed("combine", () =>
        combine(files, { format: isVideo ? "mp4" : "mp3", outDir }, (done) => onProgress(done * share)),
      )
    : await convertOne(task, files[0], timed, (plan) => {
        share = plan.form === "keep" ? 0 : plan.form === "remux" ? 0.5 : 0.9;
        return (done) => onProgress(done * share);
      });
  const { durationMs } = stored;
  const file = {
    path: stored.path ?? inputPath,
    container: stored.path === null ? facts.container : isVideo ? "mp4" : "mp3",
    isVideo,
    durationMs,
    outDir,
  } as const;
  const media = {
    ...describeStored(file),
    mediaPath: stored.path,
    speechPath: null,
    durationMs,
    stageMs,
  } satisfies StoredMedia;
  const speakers = speakersOf(task, files);
  const expected = [...(speakers === null ? [] : (["speakers"] as const)), ...expectedCompanions(isVideo)];
  onStored({ ...media, ...noCompanions(expected) });
  const failures: CompanionFailure[] = [];
  const speechPath =
    speakers === null
      ? null
      : await attempt("speakers", failures, () =>
          timed("speakers", () => combineSpeakers(speakers, outDir, () => {})),
        );
  const companions = await createCompanions(file, timed, (done) => onProgress(share + (1 - share) * done));
  return { ...media, ...companions, speechPath, failures: [...failures, ...companions.failures] };
}

/** Converts a file that is the whole recording. */
async function convertOne(
  { inputPath, outDir, facts }: Task,
  file: FileToCombine | undefined,
  timed: Timed,
  begin: (plan: MediaPlan) => (fraction: number) => void,
): Promise<Stored> {
  if (file === undefined)
    throw new MediaFailedError(
      "There are only tracks of speakers, and no recording.",
      "",
      fileCause("only_speaker_tracks", {}),
    );
  const original = await timed("open", () => openInput(inputPath, file.container, file.range));
  const startSec = startOf(original, file.container);
  const plan = planOf(planMedia(facts, original), file, startSec);
  const onProgress = begin(plan);
  const { durationMs } = facts;
  const stored = await timed(plan.form, () =>
    plan.form === "keep"
      ? { path: null, durationMs }
      : convert(original, plan, { outDir, durationMs, startSec }, onProgress),
  );
  closeInput(original);
  return stored;
}

/** What was sent together with other files, or doesn't begin at 0, can't be kept as it is. */
function planOf(plan: MediaPlan, { range, container }: FileToCombine, startSec: number): MediaPlan {
  if (plan.form !== "keep" || (range === undefined && startSec === 0)) return plan;
  return container === "mp3"
    ? { form: "transcode", to: "mp3", video: null, audio: "encode" }
    : { form: "remux", to: "mp4", video: "copy", audio: "copy" };
}

/** The parts of the recording, one after the other. */
function filesOf({ inputPath, facts }: Task): FileToCombine[] {
  const { container, durationMs, parts } = facts;
  if (parts === undefined) return [{ path: inputPath, container, durationMs, startSec: 0 }];
  let startMs = 0;
  return parts
    .filter(({ speaker }) => speaker === null)
    .map((part) => {
      const startSec = startMs / 1000;
      startMs += part.durationMs;
      return { ...fileOf(inputPath, part), startSec };
    });
}

function fileOf(path: string, part: NonNullable<MediaFacts["parts"]>[number]): FileToCombine {
  const { start, end, container, durationMs } = part;
  return { path, container, durationMs, range: { start, end }, startSec: 0 };
}

function isMixed({ facts, audioTracks }: Task): boolean {
  return audioTracks !== undefined && (facts.audioTracks?.length ?? 0) > 1;
}

/** The speakers that have a track of their own; null: none have. */
function speakersOf(
  task: Task,
  files: readonly FileToCombine[],
): Parameters<typeof combineSpeakers>[0] | null {
  const { facts, inputPath, audioTracks } = task;
  const voices = (facts.parts ?? []).filter(({ speaker }) => speaker !== null);
  if (voices.length > 0)
    return voices.length > maxSpeakers ? null : voices.map((part) => fileOf(inputPath, part));
  const tracks = facts.audioTracks ?? [];
  const [file] = files;
  if (audioTracks !== "speakers" || tracks.length < 2 || tracks.length > maxSpeakers || file === undefined)
    return null;
  return { tracksOf: file, tracks };
}
