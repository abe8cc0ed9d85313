import { mkdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchPostgres } from "../database.ts";
import { median } from "../load.ts";
import { encodeClip, repeatClip } from "../media.ts";
import { type Figure, figure } from "../report.ts";
import type { Sizes } from "../sizes.ts";
import { putFile } from "../transfer.ts";
import { createUpload, type MediaServer, startMediaServer, untilRecording } from "./media-api.ts";

const fixture = fileURLToPath(new URL("../../test/fixtures/media/good-index-at-end.mp4", import.meta.url));

interface Subject {
  readonly name: string;
  readonly mediaType: "video" | "audio";
  readonly path: string;
  readonly seconds: number;
}

/**
 * How long it takes from a file's last byte until its recording is there, without a speech model. A short file shows
 * what it costs at all, files of an hour what their length adds: an mp4 with its index at the end, and an mp3.
 */
export async function measureAvailable(
  postgres: BenchPostgres,
  { availableSec, rounds }: Sizes,
): Promise<Figure[]> {
  const folder = join(postgres.folder, "available");
  mkdirSync(folder, { recursive: true });
  const media = await startMediaServer(postgres, "all");
  try {
    const short: Subject = { name: "12 s of mp4", mediaType: "video", path: fixture, seconds: 12 };
    const figures = [await measure(media, short, rounds)];
    const text = availableSec < 60 ? `${availableSec} s` : `${(availableSec / 60).toFixed(0)} min`;
    for (const subject of [
      {
        name: `${text} of 720p mp4`,
        mediaType: "video",
        path: makeMp4(folder, availableSec),
        seconds: availableSec,
      },
      {
        name: `${text} of mp3`,
        mediaType: "audio",
        path: makeMp3(folder, availableSec),
        seconds: availableSec,
      },
    ] as const)
      figures.push(await measure(media, subject, rounds));
    return figures;
  } finally {
    await media.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A clip of this length is repeated, unless it is as long as the file. */
const clipOf = (seconds: number): number => Math.min(20, seconds);

function makeMp4(folder: string, seconds: number): string {
  const clipSec = clipOf(seconds);
  const clip = join(folder, "clip.mp4");
  encodeClip(clip, {
    video: {
      source: [
        ["testsrc2", `size=1280x720:rate=25:duration=${clipSec}`],
        ["noise", "alls=10:allf=t"],
      ],
      width: 1280,
      height: 720,
      framesPerSec: 25,
      keyframeEvery: 50,
      bitsPerSec: 1_200_000,
    },
    audio: {
      source: [["anoisesrc", `duration=${clipSec}:amplitude=0.1`]],
      codec: "aac",
      bitsPerSec: 64_000,
    },
  });
  return repeatClip(clip, { seconds: clipSec, times: seconds / clipSec, path: join(folder, "long.mp4") });
}

function makeMp3(folder: string, seconds: number): string {
  const clipSec = clipOf(seconds);
  const clip = join(folder, "clip.mp3");
  encodeClip(clip, {
    audio: {
      source: [["anoisesrc", `duration=${clipSec}:amplitude=0.3`]],
      codec: "libmp3lame",
      bitsPerSec: 128_000,
    },
  });
  return repeatClip(clip, { seconds: clipSec, times: seconds / clipSec, path: join(folder, "long.mp3") });
}

/** Sends it again and again; the slowest counts. */
async function measure(
  media: MediaServer,
  { name, mediaType, path, seconds }: Subject,
  rounds: number,
): Promise<Figure> {
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const upload = await createUpload(media, mediaType);
    await putFile(path, upload.url, upload.headers);
    const arrivedAt = performance.now();
    await untilRecording(media, upload.id, 300_000);
    took.push((performance.now() - arrivedAt) / 1000);
    await media.clear();
  }
  const size = `${(statSync(path).size / 2 ** 20).toFixed(0)} MiB`;
  const spread = `${Math.min(...took).toFixed(2)} to ${Math.max(...took).toFixed(2)}`;
  const measured = `${median(took).toFixed(2)} s (${spread}); ${size}`;
  // A hundredth of the length and two seconds.
  const max = 0.01 * seconds + 2;
  return figure(`last byte to recording, ${name}`, Math.max(...took), measured, " s", { max });
}
