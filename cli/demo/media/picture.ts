import sharp from "sharp";
import { frame, loudest, type Scene } from "./scene.ts";
import type { Box } from "./slides.ts";

/** A picture as encoders take it: brightness, then two planes of colour of half the size (4:2:0, BT.709). */
export type Planes = Buffer;

const { width, height } = frame;
const bytes = (width * height * 3) / 2;

/** A scene drawn in all its looks. */
export interface Drawn {
  readonly tiles: Scene["tiles"];
  /** By how loud everybody is. */
  readonly looks: readonly Planes[];
}

export async function drawScene(scene: Scene): Promise<Drawn> {
  const levels = scene.tiles.size === 0 ? [0] : Array.from({ length: loudest + 1 }, (_, level) => level);
  return { tiles: scene.tiles, looks: await Promise.all(levels.map((level) => planesOf(scene.draw(level)))) };
}

/** The frame being shown: the next one is made by changing what differs. */
export interface Canvas {
  readonly planes: Planes;
  /** Shows a scene in which one person is as loud as that; nobody with null. */
  show(drawn: Drawn, speaker: string | null, level: number): void;
}

export function newCanvas(): Canvas {
  const planes = Buffer.alloc(bytes);
  let shown: Drawn | null = null;
  let lit: { box: Box; key: string; level: number } | null = null;
  return {
    planes,
    show(drawn, speaker, level) {
      const [base] = drawn.looks;
      const box = speaker === null ? undefined : drawn.tiles.get(speaker);
      const look = drawn.looks[level];
      if (base === undefined) return;
      if (shown !== drawn) {
        base.copy(planes);
        lit = null;
      }
      shown = drawn;
      const isSame = lit !== null && lit.key === speaker && lit.level === level;
      if (isSame) return;
      if (lit !== null && lit.box !== box) copyBox(base, planes, lit.box);
      lit = null;
      if (box === undefined || look === undefined || speaker === null) return;
      copyBox(look, planes, box);
      lit = { box, key: speaker, level };
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

/** An SVG as planes, by ITU-R BT.709 with limited range. */
async function planesOf(svg: string): Promise<Planes> {
  const { data, info } = await sharp(Buffer.from(svg))
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.width !== width || info.height !== height || info.channels !== 3)
    throw new Error(`a picture of ${info.width}x${info.height} with ${info.channels} channels`);
  const planes = Buffer.alloc(bytes);
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
