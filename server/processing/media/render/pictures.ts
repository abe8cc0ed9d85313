import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brightness, fitInto, type Rgb } from "./encode/rgb.ts";
import { decodeRemedy, MediaFailedError } from "./errors.ts";
import type { Keyframes } from "./keyframes.ts";
import type { RenderResult, StoryboardIndex } from "./protocol.ts";

/** Where in the video to look for a meaningful picture, in this order: not at the beginning, which is often black. */
const thumbnailPlaces = [0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.05, 0.4, 0.6, 0.8, 0.95, 0];
const thumbnailBox = { width: 640, height: 1280 };
/**
 * Darker or more uniform than any picture that shows something: black is at most 16, a white page with text deviates by
 * 20.
 */
const minMean = 20;
const minDeviation = 10;

const tileBox = { width: 160, height: 284 };
const sheetColumns = 10;
const sheetRows = 10;
const minIntervalMs = 5000;
/** Two sheets, 300 kB at most, and two seconds of work. */
const maxTiles = 200;

/**
 * Writes thumbnail.jpg: the first of a few pictures that is neither black nor uniform, or otherwise the one with the
 * most detail.
 * @throws MediaFailedError when not one picture decodes.
 */
export async function createThumbnail(
  keyframes: Keyframes,
  { outDir, durationMs }: { outDir: string; durationMs: number },
): Promise<NonNullable<RenderResult["thumbnail"]>> {
  const size = fitInto(keyframes.size, thumbnailBox);
  let best: { picture: Rgb; score: number } | null = null;
  for (const place of thumbnailPlaces) {
    const found = keyframes.at(durationMs * place);
    if (found === null) continue;
    const picture = keyframes.picture(size);
    const { mean, deviation } = brightness(picture);
    // A damaged picture only if there is no other.
    const score = found.isCorrupt ? deviation / 1000 : deviation;
    if (best === null || score > best.score) best = { picture, score };
    if (!found.isCorrupt && mean >= minMean && deviation >= minDeviation) {
      best = { picture, score };
      break;
    }
  }
  if (best === null) {
    throw new MediaFailedError(`The video can't be decoded: all of its frames are damaged. ${decodeRemedy}`);
  }
  const path = join(outDir, "thumbnail.jpg");
  await writeJpeg(best.picture, path, 80);
  return { path, ...size };
}

/** Writes storyboard.json and its sheets. A tile whose keyframe does not decode repeats the previous one. */
export async function createStoryboard(
  keyframes: Keyframes,
  { outDir, durationMs }: { outDir: string; durationMs: number },
  onProgress: (fraction: number) => void,
): Promise<NonNullable<RenderResult["storyboard"]>> {
  const tile = fitInto(keyframes.size, tileBox);
  const intervalMs = Math.max(minIntervalMs, Math.ceil(durationMs / maxTiles));
  const count = Math.max(1, Math.ceil(durationMs / intervalMs));
  const columns = Math.min(sheetColumns, count);
  const perSheet = columns * sheetRows;
  const sheets: string[] = [];
  const paths: string[] = [];
  const timesMs: number[] = [];
  let tiles: Rgb[] = [];
  let shown = { picture: { data: new Uint8Array(tile.width * tile.height * 3), ...tile } as Rgb, timeMs: -1 };
  for (let i = 0; i < count; i++) {
    const found = keyframes.at(i * intervalMs);
    if (found !== null && found.timeMs !== shown.timeMs) {
      shown = { picture: keyframes.picture(tile), timeMs: found.timeMs };
    }
    tiles.push(shown.picture);
    timesMs.push(Math.max(0, shown.timeMs));
    if (tiles.length === perSheet || i === count - 1) {
      const name = `storyboard-${sheets.length}.jpg`;
      await writeJpeg(joinTiles(tiles, tile, columns), join(outDir, name), 70);
      sheets.push(name);
      paths.push(join(outDir, name));
      tiles = [];
    }
    onProgress((i + 1) / count);
  }
  const index: StoryboardIndex = {
    version: 1,
    tile_width: tile.width,
    tile_height: tile.height,
    columns,
    rows: Math.min(sheetRows, Math.ceil(count / columns)),
    interval_ms: intervalMs,
    count,
    sheets,
    times_ms: timesMs,
  };
  const indexPath = join(outDir, "storyboard.json");
  writeFileSync(indexPath, JSON.stringify(index));
  return { indexPath, paths };
}

function joinTiles(tiles: readonly Rgb[], tile: { width: number; height: number }, columns: number): Rgb {
  const width = tile.width * columns;
  const height = tile.height * Math.ceil(tiles.length / columns);
  const data = new Uint8Array(width * height * 3);
  for (const [i, { data: pixels }] of tiles.entries()) {
    const left = (i % columns) * tile.width;
    const top = Math.floor(i / columns) * tile.height;
    for (let y = 0; y < tile.height; y++) {
      const line = pixels.subarray(y * tile.width * 3, (y + 1) * tile.width * 3);
      data.set(line, ((top + y) * width + left) * 3);
    }
  }
  return { data, width, height };
}

/** Through a buffer, so that a full disk is an error with a code. */
async function writeJpeg({ data, width, height }: Rgb, path: string, quality: number): Promise<void> {
  // Here, because loading it takes as long as most work on a file without pictures.
  const { default: sharp } = await import("sharp");
  const jpeg = await sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality, progressive: true })
    .toBuffer();
  writeFileSync(path, jpeg);
}
