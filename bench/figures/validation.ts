import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MediaExpectation, MediaSource } from "../../server/processing/media/facts.ts";
import { validateMedia } from "../../server/processing/media/validate/index.ts";
import { takeTurns } from "../load.ts";
import { encodeClip, repeatClip } from "../media.ts";
import { type Figure, figure, ratioFigure } from "../report.ts";
import type { Sizes } from "../sizes.ts";

const clipSec = 20;
const limits = { maxDurationSec: 5 * 3600, maxBytes: 5 * 2 ** 30 };

interface Subject {
  readonly name: string;
  readonly path: string;
  readonly expectation: MediaExpectation;
}

/**
 * How fast large files are validated against libav listing their packets (what ffprobe does), how much memory it takes,
 * and how many requests when the file is in object storage. The files are an mp4 with its index at the end and an mp3
 * of variable bit rate without a header.
 */
export async function measureValidation(sizes: Sizes): Promise<Figure[]> {
  const { validatedBytes: bytes, validatedSec: seconds, rounds } = sizes;
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-validation-"));
  try {
    const mp4: Subject = {
      name: `${(bytes / 2 ** 20).toFixed(0)} MiB mp4`,
      path: makeMp4(folder, bytes, seconds),
      expectation: { kind: "video" },
    };
    const mp3: Subject = {
      name: `${(seconds / 60).toFixed(0)} min of mp3`,
      path: makeMp3(folder, seconds),
      expectation: { kind: "audio" },
    };
    return [
      ...(await compare(mp4, seconds, rounds)),
      ...(await countRequests(mp4)),
      ...(await compare(mp3, seconds, rounds)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeMp4(folder: string, bytes: number, seconds: number): string {
  const clip = join(folder, "clip.mp4");
  const bitsPerSec = { sound: 64_000, picture: Math.max(50_000, (bytes * 8) / seconds - 64_000) };
  encodeClip(clip, {
    video: {
      source: [
        ["testsrc2", `size=640x360:rate=25:duration=${clipSec}`],
        ["noise", "alls=60:allf=t"],
      ],
      width: 640,
      height: 360,
      framesPerSec: 25,
      keyframeEvery: 50,
      bitsPerSec: bitsPerSec.picture,
      isConstantRate: true,
    },
    audio: {
      source: [["anoisesrc", `duration=${clipSec}:amplitude=0.1`]],
      codec: "aac",
      bitsPerSec: bitsPerSec.sound,
    },
  });
  return repeatClip(clip, { seconds: clipSec, times: seconds / clipSec, path: join(folder, "long.mp4") });
}

function makeMp3(folder: string, seconds: number): string {
  const clip = join(folder, "clip.mp3");
  encodeClip(clip, {
    audio: {
      source: [
        ["anoisesrc", `duration=${clipSec}:amplitude=0.5`],
        ["volume", `volume='t/${clipSec}':eval=frame`],
      ],
      codec: "libmp3lame",
      // Quality 4 of LAME, times FF_QP2LAMBDA.
      options: { flags: "+qscale", global_quality: 4 * 118 },
      bitsPerSec: 0,
    },
  });
  return repeatClip(clip, {
    seconds: clipSec,
    times: seconds / clipSec,
    path: join(folder, "long.mp3"),
    options: { write_xing: 0, id3v2_version: 0 },
  });
}

async function compare(
  { name, path, expectation }: Subject,
  expectedSec: number,
  rounds: number,
): Promise<Figure[]> {
  const source: MediaSource = {
    size: statSync(path).size,
    path,
    read: () => Promise.reject(new Error("a local file is read by path")),
  };
  const validate = async (): Promise<void> => {
    const result = await validateMedia(source, expectation, limits);
    if (!result.ok) throw new Error(`${name} was refused: ${result.reason}`);
    // The encoder's padding is part of every repeated mp3 clip.
    if (Math.abs(result.facts.durationMs / 1000 / expectedSec - 1) > 0.02)
      throw new Error(`${name} was measured as ${result.facts.durationMs} ms`);
  };
  const child = fork(new URL("../packet-list-process.ts", import.meta.url));
  const listPackets = async (): Promise<number> => {
    child.send(path);
    const [answer] = (await once(child, "message")) as [{ seconds: number; packets: number }];
    if (answer.packets === 0) throw new Error(`libav found no packet in ${name}`);
    return answer.seconds;
  };
  try {
    // Both once before, so that both find the file in memory.
    await listPackets();
    const memoryMb = await peakGrowthMb(validate);
    const compared = await takeTurns(rounds, listPackets, () => seconds(validate));
    return [
      ratioFigure(`validate ${name}: time to libav's packet list`, " s", compared, { max: 0.33 }),
      figure(`validate ${name}: memory`, memoryMb, `${memoryMb.toFixed(0)} MB more`, " MB", { max: 300 }),
    ];
  } finally {
    child.disconnect();
  }
}

/** The same file as it would be validated in object storage. */
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
    const result = await validateMedia(source, expectation, limits);
    if (!result.ok) throw new Error(`${name} was refused: ${result.reason}`);
    const mb = bytes / 2 ** 20;
    return [
      figure(`validate ${name} in object storage: requests`, requests, `${requests}`, "", { max: 64 }),
      figure(`validate ${name} in object storage: read`, mb, `${mb.toFixed(1)} MB`, " MB", { max: 64 }),
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

/** By how much this process grows at most during a task; the task leaves the main thread free. */
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
