import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { MediaExpectation, MediaSource } from "../../server/media/facts.ts";
import { judgeMedia } from "../../server/media/judge/index.ts";
import { ffmpeg, hasFfmpeg, repeat } from "../ffmpeg.ts";
import { takeTurns } from "../load.ts";
import { type Figure, figure } from "../report.ts";

const run = promisify(execFile);
const hours = 4;
const limits = { maxDurationSec: (hours + 1) * 3600, maxBytes: 5 * 2 ** 30 };

/** What a file is judged as, and what ffprobe is asked for the same knowledge. */
interface Subject {
  readonly name: string;
  readonly path: string;
  readonly expectation: MediaExpectation;
  readonly probeArgs: readonly string[];
}

/**
 * How fast large files are judged against ffprobe listing their packets, what memory it takes, and how many requests
 * when the file is in object storage. Makes a four-hour mp4 with its index at the end and a four-hour mp3 of variable
 * bit rate without a header in a temporary folder, and removes them.
 * @param bytes size of the mp4; smaller for a quick run.
 * @param rounds how often baseline and subject take turns.
 */
export async function measureJudge(bytes: number, rounds: number): Promise<Figure[]> {
  if (!(await hasFfmpeg()))
    return [figure("judge: against ffprobe", null, "no ffmpeg and ffprobe on this machine", "", {})];
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-judge-"));
  try {
    const mp4: Subject = {
      name: `${(bytes / 2 ** 30).toFixed(1)} GiB mp4`,
      path: await makeMp4(folder, bytes),
      expectation: { kind: "video" },
      probeArgs: ["-select_streams", "v:0", "-show_entries", "packet=pts_time,flags"],
    };
    const mp3: Subject = {
      name: "four-hour mp3",
      path: await makeMp3(folder),
      expectation: { kind: "audio" },
      probeArgs: ["-show_entries", "packet=pts_time"],
    };
    return [...(await compare(mp4, rounds)), ...(await countRequests(mp4)), ...(await compare(mp3, rounds))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One minute of noise, again and again: encoding four hours would take longer than the rest of the bench. */
async function makeMp4(folder: string, bytes: number): Promise<string> {
  const soundRate = 64_000;
  const pictureRate = Math.round((bytes * 8) / (hours * 3600)) - soundRate;
  const picture = "testsrc2=size=640x360:rate=25:duration=60,noise=alls=60:allf=t,format=yuv420p";
  const clip = ["-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", "anoisesrc=duration=60:amplitude=0.1"];
  const rate = ["-b:v", `${pictureRate}`, "-maxrate", `${pictureRate}`, "-bufsize", `${pictureRate}`];
  const video = ["-c:v", "libx264", "-preset", "veryfast", "-g", "50", ...rate];
  const filler = ["-x264-params", "nal-hrd=cbr:force-cfr=1"];
  await ffmpeg(folder, [...clip, ...video, ...filler, "-c:a", "aac", "-b:a", `${soundRate}`, "clip.mp4"]);
  return repeat(folder, "clip.mp4", hours * 60, "long.mp4");
}

async function makeMp3(folder: string): Promise<string> {
  const noise = ["-f", "lavfi", "-i", "anoisesrc=duration=60:amplitude=0.5"];
  const rising = ["-af", "volume='t/60':eval=frame", "-c:a", "libmp3lame", "-q:a", "4"];
  await ffmpeg(folder, [...noise, ...rising, "clip.mp3"]);
  return repeat(folder, "clip.mp3", hours * 60, "long.mp3", ["-write_xing", "0", "-id3v2_version", "0"]);
}

async function compare(subject: Subject, rounds: number): Promise<Figure[]> {
  const { name, path, expectation, probeArgs } = subject;
  const source: MediaSource = {
    size: statSync(path).size,
    path,
    read: () => Promise.reject(new Error("a local file is read by path")),
  };
  const judge = async (): Promise<void> => {
    const judgement = await judgeMedia(source, expectation, limits);
    if (!judgement.ok) throw new Error(`${name} was refused: ${judgement.reason}`);
    const wanted = hours * 3600;
    if (Math.abs(judgement.facts.durationMs / 1000 - wanted) > 60)
      throw new Error(`${name} was measured as ${judgement.facts.durationMs} ms`);
  };
  const probe = () =>
    run("ffprobe", ["-v", "error", ...probeArgs, "-of", "csv", path], { maxBuffer: 2 ** 30 });
  // Both once before, so that both find the file in memory.
  await probe();
  const memoryMb = await peakGrowthMb(judge);
  const compared = await takeTurns(
    rounds,
    () => seconds(probe),
    () => seconds(judge),
  );
  const { ratio, least, greatest } = compared;
  const measured =
    `${ratio.toFixed(3)} (${least.toFixed(3)} to ${greatest.toFixed(3)}): ` +
    `${compared.subject.toFixed(2)} s against ${compared.baseline.toFixed(2)} s`;
  return [
    figure(`judge: ${name}, time to ffprobe's packet list`, ratio, measured, "", { most: 0.33 }),
    figure(`judge: ${name}, memory`, memoryMb, `${memoryMb.toFixed(0)} MB more`, " MB", { most: 300 }),
  ];
}

/** The same file as it would be judged in object storage. */
async function countRequests({ name, path, expectation }: Subject): Promise<Figure[]> {
  const file = await open(path);
  try {
    let requests = 0;
    let bytes = 0;
    const source: MediaSource = {
      size: (await file.stat()).size,
      path: null,
      async read(start, end) {
        requests += 1;
        bytes += end - start + 1;
        return (await file.read(Buffer.alloc(end - start + 1), 0, end - start + 1, start)).buffer;
      },
    };
    const judgement = await judgeMedia(source, expectation, limits);
    if (!judgement.ok) throw new Error(`${name} was refused: ${judgement.reason}`);
    const mb = bytes / 2 ** 20;
    return [
      figure(`judge: ${name} in object storage, requests`, requests, `${requests}`, "", { most: 64 }),
      figure(`judge: ${name} in object storage, read`, mb, `${mb.toFixed(1)} MB`, " MB", { most: 64 }),
    ];
  } finally {
    await file.close();
  }
}

async function seconds(task: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await task();
  return (performance.now() - startedAt) / 1000;
}

/** By how much this process grows at most while a task runs; the task leaves the main thread free. */
async function peakGrowthMb(task: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  try {
    await task();
  } finally {
    clearInterval(watch);
  }
  return (Math.max(peak, process.memoryUsage.rss()) - before) / 2 ** 20;
}
