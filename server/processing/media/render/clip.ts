import { join } from "node:path";
import { AVSEEK_FLAG_BACKWARD } from "node-av/constants";
import {
  createCompanions,
  describeStored,
  expectedCompanions,
  noCompanions,
  stopwatch,
} from "./companions.ts";
import { encodeAudio } from "./encode/audio.ts";
import { openOutput, type Track } from "./encode/output.ts";
import { encodeVideo } from "./encode/video.ts";
import { MediaFailedError } from "./errors.ts";
import {
  checkWrite,
  closeInput,
  type Input,
  openInput,
  packetsOf,
  readOnly,
  secondsOf,
  setOptions,
} from "./libav.ts";
import type { Part } from "./part.ts";
import type { MediaJob, RenderResult } from "./protocol.ts";

/** Read before the start, so that the decoder has what it needs and the picture shown at the start is found. */
const leadSec = 1;

/**
 * In the child process: cuts a part out of a file in its stored form and creates everything it is shown with. It is
 * re-encoded, so that it begins and ends exactly where it should and contains nothing from outside the part.
 * @throws MediaFailedError, MachineError, errors of the operating system.
 */
export async function clip(
  { inputPath, outDir, format, startMs, endMs }: MediaJob & { task: "clip" },
  onProgress: (fraction: number) => void,
  onStored: (result: RenderResult) => void,
): Promise<RenderResult> {
  const { timed, stageMs } = stopwatch();
  const isVideo = format === "mp4";
  const durationMs = endMs - startMs;
  const path = join(outDir, `media.${format}`);
  const input = openInput(inputPath, format);
  await timed("cut", () =>
    cut(input, { path, format, startMs, endMs }, (done) => onProgress(Math.min(1, done) * 0.9)),
  );
  closeInput(input);
  const file = { path, container: format, isVideo, durationMs, outDir };
  const media = { ...describeStored(file), mediaPath: path, speechPath: null, durationMs, stageMs };
  onStored({ ...media, ...noCompanions(expectedCompanions(isVideo)) });
  const companions = await createCompanions(file, timed, (done) => onProgress(0.9 + 0.1 * done));
  return { ...media, ...companions };
}

function cut(
  input: Input,
  to: {
    readonly path: string;
    readonly format: "mp4" | "mp3";
    readonly startMs: number;
    readonly endMs: number;
  },
  onProgress: (fraction: number) => void,
): void {
  const { video, audio } = input;
  const { format, endMs } = to;
  if (format === "mp4" ? video === null : audio === null)
    throw new MediaFailedError("The recording's file no longer has its main track.");
  // An mp3 begins with its encoder's delay, which players skip; an mp4 counts from the beginning of the video.
  const originSec = format === "mp3" && audio !== null ? (secondsOf(audio.startTime, audio) ?? 0) : 0;
  const part: Part = { startSec: originSec + to.startMs / 1000, endSec: originSec + endMs / 1000 };
  const output = openOutput(to.path, format);
  const tracks: Track[] = [];
  if (format === "mp4" && video !== null) tracks.push(encodeVideo(video, output, endMs, part));
  if (audio !== null)
    tracks.push(
      encodeAudio(audio, output, {
        codec: format === "mp3" ? "libmp3lame" : "aac",
        durationMs: part.endSec * 1000,
        part,
      }),
    );
  readOnly(input, ...tracks.map(({ source }) => source));
  if (format === "mp4") setOptions(output.context, { movflags: "+faststart" });
  checkWrite(output.context.writeHeaderSync(null), "write the header");

  if (format === "mp4" && video !== null) seek(input, video.index, part.startSec - leadSec);
  // Positions in an mp3 are estimates, so it is read from its beginning and decoded shortly before the part.
  pushPackets(
    input,
    tracks,
    part,
    format === "mp3" ? part.startSec - leadSec : Number.NEGATIVE_INFINITY,
    onProgress,
  );
  for (const track of tracks) track.finish();
  checkWrite(output.context.writeTrailerSync(), "write the index");
  output.context.flushSync();
  checkWrite(output.context.pb?.error ?? 0, "write the file");
  for (const track of tracks) track.close();
  output.context.closeOutputSync();
  output.context.freeContext();
}

/** Feeds the packets of a part to their tracks, until every track has reached the end of the part. */
function pushPackets(
  input: Input,
  tracks: readonly Track[],
  part: Part,
  fromSec: number,
  onProgress: (fraction: number) => void,
): void {
  const finished = new Set<Track>();
  for (const packet of packetsOf(input)) {
    const track = tracks.find(({ source }) => source.index === packet.streamIndex);
    if (track === undefined) continue;
    const sec = secondsOf(packet.dts, track.source);
    if (sec !== null && sec >= part.endSec) {
      finished.add(track);
      if (finished.size === tracks.length) return;
      continue;
    }
    if (sec !== null && sec < fromSec) continue;
    if (sec !== null) onProgress((sec - part.startSec) / (part.endSec - part.startSec));
    track.push(packet);
  }
}

/** Seeks to the last keyframe before a time; to the beginning if there is none. */
function seek(input: Input, streamIndex: number, sec: number): void {
  const stream = input.context.streams[streamIndex];
  if (stream === undefined || sec <= 0) return;
  const { num, den } = stream.timeBase;
  const target = BigInt(Math.round((sec * den) / num));
  if (input.context.seekFrameSync(streamIndex, target, AVSEEK_FLAG_BACKWARD) < 0)
    input.context.seekFrameSync(streamIndex, 0n, AVSEEK_FLAG_BACKWARD);
}
