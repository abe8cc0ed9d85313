import { mkdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchPostgres } from "../database.ts";
import { ffmpeg, hasFfmpeg, repeat } from "../ffmpeg.ts";
import { median } from "../load.ts";
import { type Figure, figure } from "../report.ts";
import { type Client, openClient } from "../transfer.ts";
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
 * @param hourSec how long an hour is; less for a quick run.
 */
export async function measureAvailable(
  postgres: BenchPostgres,
  hourSec: number,
  rounds: number,
): Promise<Figure[]> {
  const folder = join(postgres.folder, "available");
  mkdirSync(folder, { recursive: true });
  const client = await openClient();
  const media = await startMediaServer(postgres, "all");
  try {
    const short: Subject = { name: "12 s of mp4", mediaType: "video", path: fixture, seconds: 12 };
    const figures = [await measure(media, client, short, rounds)];
    if (!(await hasFfmpeg())) {
      figures.push(figure("available: an hour", null, "no ffmpeg and ffprobe on this machine", "", {}));
      return figures;
    }
    const text = `${hourSec / 60} min`;
    for (const subject of [
      {
        name: `${text} of 720p mp4`,
        mediaType: "video",
        path: await makeMp4(folder, hourSec),
        seconds: hourSec,
      },
      { name: `${text} of mp3`, mediaType: "audio", path: await makeMp3(folder, hourSec), seconds: hourSec },
    ] as const)
      figures.push(await measure(media, client, subject, rounds));
    return figures;
  } finally {
    await media.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const clipSec = 20;

async function makeMp4(folder: string, seconds: number): Promise<string> {
  const picture = `testsrc2=size=1280x720:rate=25:duration=${clipSec},noise=alls=10:allf=t,format=yuv420p`;
  const sound = `anoisesrc=duration=${clipSec}:amplitude=0.1`;
  const video = ["-c:v", "libx264", "-preset", "veryfast", "-g", "50", "-b:v", "1200k", "-maxrate", "1200k"];
  await ffmpeg(folder, [
    ...["-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", sound],
    ...[...video, "-bufsize", "2400k", "-c:a", "aac", "-b:a", "64k", "clip.mp4"],
  ]);
  return repeat(folder, "clip.mp4", seconds / clipSec, "long.mp4");
}

async function makeMp3(folder: string, seconds: number): Promise<string> {
  const sound = `anoisesrc=duration=${clipSec}:amplitude=0.3`;
  await ffmpeg(folder, ["-f", "lavfi", "-i", sound, "-c:a", "libmp3lame", "-b:a", "128k", "clip.mp3"]);
  return repeat(folder, "clip.mp3", seconds / clipSec, "long.mp3");
}

/** Sends it again and again; the slowest counts. */
async function measure(
  media: MediaServer,
  client: Client,
  { name, mediaType, path, seconds }: Subject,
  rounds: number,
): Promise<Figure> {
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const upload = await createUpload(media, mediaType);
    await client.put(path, upload.url, upload.headers);
    const arrivedAt = performance.now();
    await untilRecording(media, upload.id, 300_000);
    took.push((performance.now() - arrivedAt) / 1000);
    await media.clear();
  }
  const size = `${(statSync(path).size / 2 ** 20).toFixed(0)} MiB`;
  const spread = `${Math.min(...took).toFixed(2)} to ${Math.max(...took).toFixed(2)}`;
  const measured = `${median(took).toFixed(2)} s (${spread}); ${size}`;
  // Of the issue: a hundredth of the length and two seconds.
  const most = 0.01 * seconds + 2;
  return figure(`last byte to recording, ${name}`, Math.max(...took), measured, " s", { most });
}
