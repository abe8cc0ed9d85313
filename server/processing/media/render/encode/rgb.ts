/** A picture, three bytes for each pixel, without padding. */
export interface Rgb {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Rotates a picture clockwise by 0, 90, 180 or 270 degrees. */
export function rotate(picture: Rgb, degrees: number): Rgb {
  if (degrees === 0) return picture;
  const { data, width, height } = picture;
  const [outWidth, outHeight] = degrees === 180 ? [width, height] : [height, width];
  const out = new Uint8Array(data.length);
  for (let y = 0; y < outHeight; y++) {
    for (let x = 0; x < outWidth; x++) {
      const fromX = degrees === 90 ? y : degrees === 180 ? width - 1 - x : width - 1 - y;
      const fromY = degrees === 90 ? height - 1 - x : degrees === 180 ? height - 1 - y : x;
      const from = (fromY * width + fromX) * 3;
      const to = (y * outWidth + x) * 3;
      out[to] = data[from] as number;
      out[to + 1] = data[from + 1] as number;
      out[to + 2] = data[from + 2] as number;
    }
  }
  return { data: out, width: outWidth, height: outHeight };
}

/** Mean brightness (0 to 255) and standard deviation of every third pixel. */
export function brightness({ data }: Rgb): { mean: number; deviation: number } {
  let count = 0;
  let sum = 0;
  let squares = 0;
  for (let i = 0; i + 2 < data.length; i += 9) {
    const luma =
      0.299 * (data[i] as number) + 0.587 * (data[i + 1] as number) + 0.114 * (data[i + 2] as number);
    count += 1;
    sum += luma;
    squares += luma * luma;
  }
  const mean = sum / Math.max(1, count);
  return { mean, deviation: Math.sqrt(Math.max(0, squares / Math.max(1, count) - mean * mean)) };
}

/** The largest size of the same shape within a box; never enlarged. At least 1×1. */
export function fitInto(
  size: { width: number; height: number },
  box: { width: number; height: number },
): { width: number; height: number } {
  const factor = Math.min(1, box.width / size.width, box.height / size.height);
  return {
    width: Math.max(1, Math.round(size.width * factor)),
    height: Math.max(1, Math.round(size.height * factor)),
  };
}
