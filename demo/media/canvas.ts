import sharp from "sharp";
import { frame, maxLevel, type Scene } from "./scene.ts";
import type { Box } from "./slides.ts";

/** A picture in the encoder's format: the luma plane, then two chroma planes of half the width and height (4:2:0, BT.709). */
type Planes = Buffer;

const { width, height } = frame;
const byteCount = (width * height * 3) / 2;

/** A scene rendered at every loudness level. */
export interface RenderedScene {
  readonly tiles: Scene["tiles"];
  /** Pictures by loudness level; every tile has that level. */
  readonly levels: readonly Planes[];
}

export async function renderScene(scene: Scene): Promise<RenderedScene> {
  const levels = scene.tiles.size === 0 ? [0] : Array.from({ length: maxLevel + 1 }, (_, level) => level);
  return {
    tiles: scene.tiles,
    levels: await Promise.all(levels.map((level) => planesOf(scene.draw(level)))),
  };
}

/** The current frame; each frame changes only the parts that differ from the one before. */
export interface Canvas {
  readonly planes: Planes;
  /** Shows a scene with one speaker at a loudness level; null: nobody speaks. */
  show(scene: RenderedScene, speaker: string | null, level: number): void;
}

export function createCanvas(): Canvas {
  const planes = Buffer.alloc(byteCount);
  let shownScene: RenderedScene | null = null;
  let highlighted: { box: Box; key: string; level: number } | null = null;
  return {
    planes,
    show(scene, speaker, level) {
      const [base] = scene.levels;
      const box = speaker === null ? undefined : scene.tiles.get(speaker);
      const picture = scene.levels[level];
      if (base === undefined) return;
      if (shownScene !== scene) {
        base.copy(planes);
        highlighted = null;
      }
      shownScene = scene;
      const isSame = highlighted !== null && highlighted.key === speaker && highlighted.level === level;
      if (isSame) return;
      if (highlighted !== null && highlighted.box !== box) copyBox(base, planes, highlighted.box);
      highlighted = null;
      if (box === undefined || picture === undefined || speaker === null) return;
      copyBox(picture, planes, box);
      highlighted = { box, key: speaker, level };
    },
  };
}

function copyBox(from: Planes, to: Planes, box: Box): void {
  copyPlane(from, to, 0, width, box.x, box.y, box.width, box.height);
  for (const start of [width * height, (width * height * 5) / 4])
    copyPlane(from, to, start, width / 2, box.x / 2, box.y / 2, box.width / 2, box.height / 2);
}

function copyPlane(
  from: Planes,
  to: Planes,
  start: number,
  stride: number,
  x: number,
  y: number,
  across: number,
  lines: number,
): void {
  for (let line = y; line < y + lines; line++) {
    const at = start + line * stride + x;
    from.copy(to, at, at, at + across);
  }
}

/** Converts an SVG to planes: ITU-R BT.709, limited range. */
async function planesOf(svg: string): Promise<Planes> {
  const { data, info } = await sharp(Buffer.from(svg))
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.width !== width || info.height !== height || info.channels !== 3)
    throw new Error(
      `the picture is ${info.width}x${info.height} with ${info.channels} channels, not ${width}x${height} with 3`,
    );
  const planes = Buffer.alloc(byteCount);
  const half = width / 2;
  const [blueAt, redAt] = [width * height, (width * height * 5) / 4];
  const at = (index: number): number => data[index] ?? 0;
  for (let i = 0; i < width * height; i++)
    planes[i] = 16.5 + 0.1826 * at(i * 3) + 0.6142 * at(i * 3 + 1) + 0.062 * at(i * 3 + 2);
  for (let y = 0; y < height / 2; y++) {
    for (let x = 0; x < half; x++) {
      const first = (y * 2 * width + x * 2) * 3;
      const mean = (channel: number): number =>
        (at(first + channel) +
          at(first + 3 + channel) +
          at(first + width * 3 + channel) +
          at(first + width * 3 + 3 + channel)) /
        4;
      const [r, g, b] = [mean(0), mean(1), mean(2)];
      planes[blueAt + y * half + x] = 128.5 - 0.1006 * r - 0.3386 * g + 0.4392 * b;
      planes[redAt + y * half + x] = 128.5 + 0.4392 * r - 0.3989 * g - 0.0403 * b;
    }
  }
  return planes;
}
