import { join } from "node:path";
import { moveEarlier } from "./clock.ts";
import { encodeAudio } from "./encode/audio.ts";
import { copyTrack } from "./encode/copy-track.ts";
import { openOutput, type Track } from "./encode/output.ts";
import { encodeVideo } from "./encode/video.ts";
import { checkWrite, type Input, packetsOf, readOnly, secondsOf, setOptions } from "./libav.ts";
import type { MediaPlan } from "./plan.ts";

/**
 * Writes media.mp4 or media.mp3 in one pass over the file. Titles, locations and all other tags are dropped, and so are
 * further video and audio tracks.
 * @param options.startSec where the file's clock stands at its beginning.
 * @throws MediaFailedError, MachineError.
 */
export function convert(
  input: Input,
  plan: Exclude<MediaPlan, { form: "keep" }>,
  { outDir, durationMs, startSec = 0 }: { outDir: string; durationMs: number; startSec?: number },
  onProgress: (fraction: number) => void,
): { path: string; durationMs: number } {
  const path = join(outDir, `media.${plan.to}`);
  const output = openOutput(path, plan.to);
  const tracks: Track[] = [];
  if (input.video !== null && plan.video !== null) {
    const make = plan.video === "copy" ? copyTrack : encodeVideo;
    tracks.push(make(input.video, output, durationMs));
  }
  if (input.audio !== null && plan.audio !== null) {
    tracks.push(
      plan.audio === "copy"
        ? copyTrack(input.audio, output)
        : encodeAudio(input.audio, output, { codec: plan.to === "mp3" ? "libmp3lame" : "aac", durationMs }),
    );
  }
  readOnly(input, ...tracks.map(({ source }) => source));
  // The index moves to the front once everything else is written.
  if (plan.to === "mp4") setOptions(output.context, { movflags: "+faststart" });
  checkWrite(output.context.writeHeaderSync(null), "write the header");

  let packetCount = 0;
  for (const packet of packetsOf(input)) {
    const track = tracks.find(({ source }) => source.index === packet.streamIndex);
    if (track === undefined) continue;
    if ((++packetCount & 63) === 0) {
      onProgress(((secondsOf(packet.dts, track.source) ?? 0) * 1000) / Math.max(1, durationMs));
    }
    if (startSec !== 0) moveEarlier(packet, startSec, track.source);
    track.push(packet);
  }
  for (const track of tracks) track.finish();
  checkWrite(output.context.writeTrailerSync(), "write the index");
  output.context.flushSync();
  checkWrite(output.context.pb?.error ?? 0, "write the file");
  for (const track of tracks) track.close();
  output.context.closeOutputSync();
  output.context.freeContext();
  const writtenMs = Math.round(output.endSec() * 1000);
  // Encoders fill up their last block, which does not make the recording longer.
  return { path, durationMs: Math.abs(writtenMs - durationMs) < 500 ? durationMs : writtenMs };
}
