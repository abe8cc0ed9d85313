import { mkdirSync } from "node:fs";
import { copyFile, link, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { recordingObjectKey } from "../../server/platform/storage/layout.ts";
import type { BenchPostgres } from "../database.ts";
import { type Comparison, median, takeTurns } from "../load.ts";
import { type Nginx, startNginx } from "../nginx.ts";
import { type Figure, figure, type Goal, ratioFigure, skippedFigure } from "../report.ts";
import type { Sizes } from "../sizes.ts";
import { getFile, putFile, settleDisk, writeRandomFile } from "../transfer.ts";
import {
  createUpload,
  downloadLink,
  type MediaServer,
  makeRecording,
  startMediaServer,
} from "./media-api.ts";

const concurrency = 8;
const maxGrowthMb = 50;

/** The bench's parts that both directions need. */
interface Bench {
  /** Of the file that is sent or fetched alone; a quarter of it is sent eight times at once. */
  readonly bytes: number;
  readonly rounds: number;
  readonly media: MediaServer;
  /** Or why there is none. */
  readonly nginx: Nginx | string;
  /** A folder on the file system of server and baseline. */
  readonly folder: string;
}

/** A file sent to an upload's URL, alone and eight at once, against nginx taking the same PUT. */
export function measureUpload(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  return withBench(postgres, "api", sizes, async (bench) => {
    const { bytes, media } = bench;
    const large = join(bench.folder, "large");
    const small = join(bench.folder, "small");
    await writeRandomFile(large, bytes);
    await writeRandomFile(small, bytes / 4);
    // What the first upload of all loads is no growth by the size of a file.
    const tiny = join(bench.folder, "tiny");
    await writeRandomFile(tiny, 2 ** 16);
    await sendToParley(bench, tiny, 1);
    const growth = media.server.watchMemory();
    const figures: Figure[] = [];
    for (const [path, count, each] of [
      [large, 1, bytes],
      [small, concurrency, bytes / 4],
    ] as const) {
      const total = (count * each) / 2 ** 20;
      const name = `PUT of ${count === 1 ? "" : `${count} at once, each `}${sizeText(each)}`;
      figures.push(
        await compareRates(
          bench,
          `${name}: throughput to nginx`,
          (nginx) => sendToNginx(nginx, path, count, false).then((seconds) => total / seconds),
          () => sendToParley(bench, path, count).then((seconds) => total / seconds),
          count === 1 ? { min: 0.8 } : {},
        ),
        // Has no target, but makes the same promise: the file is on disk when the response is sent.
        await compareRates(
          bench,
          `${name}: throughput to nginx and fsync`,
          (nginx) => sendToNginx(nginx, path, count, true).then((seconds) => total / seconds),
          () => sendToParley(bench, path, count).then((seconds) => total / seconds),
          {},
        ),
        growthFigure(`${name}: memory`, growth()),
      );
    }
    return figures;
  });
}

/** A recording's file by the link of its download, against nginx serving the same file. */
export function measureDownload(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  return withBench(postgres, "all", sizes, async (bench) => {
    const { bytes, media, nginx } = bench;
    const recordingId = await makeRecording(media);
    const path = join(media.folder, "objects", recordingObjectKey(recordingId, "media.mp4"));
    mkdirSync(dirname(path), { recursive: true });
    await writeRandomFile(path, bytes);
    const { pool } = media.data.db;
    await pool.query("update recordings set media_type = 'video' where id = $1", [recordingId]);
    await pool.query(
      "insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp4', false)",
      [recordingId],
    );
    if (typeof nginx !== "string") {
      const served = join(nginx.root, "large");
      // The very same file, so that both have it in memory or neither.
      await link(path, served).catch(() => copyFile(path, served));
    }
    const url = await downloadLink(media, recordingId);
    const rate = (seconds: number): number => bytes / 2 ** 20 / seconds;
    const growth = media.server.watchMemory();
    // Once before, so that both find the file in memory.
    await getFile(url);
    const name = `download of ${sizeText(bytes)}`;
    return [
      await compareRates(
        bench,
        `${name}: throughput to nginx`,
        (baseline) => getFile(`${baseline.url}/large`).then(rate),
        () => getFile(url).then(rate),
        { min: 0.7 },
      ),
      growthFigure(`${name}: memory`, growth()),
    ];
  });
}

/** Starts what is needed, and removes all of it again. */
async function withBench(
  postgres: BenchPostgres,
  role: "api" | "all",
  sizes: Sizes,
  measure: (bench: Bench) => Promise<Figure[]>,
): Promise<Figure[]> {
  const folder = join(postgres.folder, "transfer");
  mkdirSync(folder, { recursive: true });
  const media = await startMediaServer(postgres, role);
  try {
    const nginx = await startNginx(folder);
    try {
      return await measure({ bytes: sizes.transferBytes, rounds: sizes.rounds, media, nginx, folder });
    } finally {
      if (typeof nginx !== "string") await nginx.stop();
    }
  } finally {
    await media.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Megabytes per second of both in turns; of the server alone where there is no nginx. */
async function compareRates(
  bench: Bench,
  name: string,
  baseline: (nginx: Nginx) => Promise<number>,
  subject: () => Promise<number>,
  goal: Goal,
): Promise<Figure> {
  const { nginx, rounds } = bench;
  if (typeof nginx === "string") {
    const rates: number[] = [];
    for (let round = 0; round < rounds; round += 1) rates.push(await subject());
    return skippedFigure(name, `${nginx}; ${median(rates).toFixed(0)} MiB/s without a baseline`);
  }
  const compared: Comparison = await takeTurns(rounds, () => baseline(nginx), subject);
  return ratioFigure(name, " MiB/s", compared, goal);
}

function growthFigure(name: string, mb: number | null): Figure {
  const measured = mb === null ? "not on this system" : `${mb.toFixed(0)} MB more at its peak`;
  return figure(name, mb, measured, " MB", { max: maxGrowthMb });
}

/** @returns seconds until the last response. */
async function sendToParley({ media }: Bench, path: string, count: number): Promise<number> {
  const uploads = await Promise.all(Array.from({ length: count }, () => createUpload(media, "video")));
  await settleDisk();
  const seconds = await Promise.all(uploads.map(({ url, headers }) => putFile(path, url, headers)));
  await media.clear();
  return Math.max(...seconds);
}

/** @param isSynced also waits until the file is on disk; nginx responds before that. */
async function sendToNginx(nginx: Nginx, path: string, count: number, isSynced: boolean): Promise<number> {
  await settleDisk();
  const send = async (name: string): Promise<number> => {
    const seconds = await putFile(path, `${nginx.url}/uploads/${name}`);
    return isSynced ? seconds + (await syncFile(join(nginx.root, "uploads", name))) : seconds;
  };
  const seconds = await Promise.all(Array.from({ length: count }, (_, index) => send(String(index))));
  await rm(join(nginx.root, "uploads"), { recursive: true, force: true });
  return Math.max(...seconds);
}

/** @returns seconds it took. */
async function syncFile(path: string): Promise<number> {
  const startedAt = performance.now();
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  return (performance.now() - startedAt) / 1000;
}

function sizeText(bytes: number): string {
  return bytes < 2 ** 30 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 30} GiB`;
}
