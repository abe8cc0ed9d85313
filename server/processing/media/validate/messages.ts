const codecNames: Readonly<Record<string, string>> = {
  h264: "H.264",
  hevc: "H.265 (HEVC)",
  mpeg4: "MPEG-4 part 2",
  mpeg2video: "MPEG-2",
  mpeg1video: "MPEG-1",
  mjpeg: "Motion JPEG",
  png: "PNG pictures",
  vp8: "VP8",
  vp9: "VP9",
  av1: "AV1",
  prores: "ProRes",
  aac: "AAC",
  mp1: "MPEG audio layer I",
  mp2: "MPEG audio layer II (mp2)",
  mp3: "mp3",
  opus: "Opus",
  vorbis: "Vorbis",
  flac: "FLAC",
  alac: "Apple Lossless",
  ac3: "AC-3",
  eac3: "E-AC-3",
  pcm: "uncompressed (PCM)",
  encrypted: "encrypted",
};

/** A codec's usual name. */
export function codecName(codec: string): string {
  return codec
    .split(" and ")
    .map((name) => codecNames[name] ?? `"${name}"`)
    .join(" and ");
}

/** Seconds in words: `9.4 seconds`, `3 hours 12 seconds`. */
export function durationName(seconds: number): string {
  const rounded = Math.round(seconds * 1000) / 1000;
  if (rounded < 600) return counted(rounded, "second");
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 3600), "hour"],
    [Math.floor(whole / 60) % 60, "minute"],
    [whole % 60, "second"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => counted(count, unit))
    .join(" ");
}

export function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** Bytes, exactly and rounded. */
export function sizeName(bytes: number): string {
  const units = [
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ] as const;
  const unit = units.find(([size]) => bytes >= size);
  const exact = counted(bytes, "byte");
  return unit === undefined ? exact : `${Number((bytes / unit[0]).toFixed(2))} ${unit[1]} (${exact})`;
}
