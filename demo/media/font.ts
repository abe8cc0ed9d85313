/**
 * A stroke font, so that rendering the sample meetings needs no installed font. Capitals are 70 units high, small
 * letters 48; the paths are drawn with round line caps.
 */
const glyphs: Readonly<Record<string, readonly [width: number, path: string]>> = {
  A: [54, "M0 70L27 0L54 70M10 46H44"],
  B: [44, "M25 33A18.5 18.5 0 0 1 25 70H0V0H23A16.5 16.5 0 0 1 23 33H0"],
  C: [58, "M58 15A32 35 0 1 0 58 55"],
  D: [54, "M0 0V70H20A34 35 0 0 0 20 0Z"],
  E: [40, "M40 0H0V70H40M0 34H34"],
  F: [38, "M38 0H0V70M0 35H32"],
  G: [60, "M57 14A32 35 0 1 0 60 50V38H38"],
  H: [50, "M0 0V70M50 0V70M0 34H50"],
  I: [0, "M0 0V70"],
  J: [34, "M34 0V50A17 20 0 0 1 0 50"],
  K: [46, "M0 0V70M44 0L0 42M16 28L46 70"],
  L: [38, "M0 0V70H38"],
  M: [62, "M0 70V0L31 44L62 0V70"],
  N: [50, "M0 70V0L50 70V0"],
  O: [66, "M0 35A33 35 0 1 0 66 35A33 35 0 1 0 0 35"],
  P: [42, "M0 70V0H23A19 19 0 0 1 23 38H0"],
  Q: [66, "M0 35A33 35 0 1 0 66 35A33 35 0 1 0 0 35M44 52L64 72"],
  R: [44, "M0 70V0H23A19 19 0 0 1 23 38H0M24 38L44 70"],
  S: [
    45,
    "M42 13C37 4 30 0 21 0C9 0 1 7 1 17C1 28 10 32 22 35C35 38 44 42 44 53C44 63 35 70 23 70C12 70 4 65 0 56",
  ],
  T: [48, "M0 0H48M24 0V70"],
  U: [50, "M0 0V45A25 25 0 0 0 50 45V0"],
  V: [52, "M0 0L26 70L52 0"],
  W: [78, "M0 0L19 70L39 8L59 70L78 0"],
  X: [50, "M0 0L50 70M50 0L0 70"],
  Y: [50, "M0 0L25 36L50 0M25 36V70"],
  Z: [46, "M0 0H46L0 70H46"],
  a: [44, "M44 22V70M44 46A22 24 0 1 0 0 46A22 24 0 1 0 44 46"],
  b: [44, "M0 0V70M0 46A22 24 0 1 0 44 46A22 24 0 1 0 0 46"],
  c: [40, "M40 32A22 24 0 1 0 40 60"],
  d: [44, "M44 0V70M44 46A22 24 0 1 0 0 46A22 24 0 1 0 44 46"],
  e: [45, "M1 46H45A22 24 0 1 0 40 61"],
  f: [28, "M28 1C16 -2 10 4 10 14V70M0 24H25"],
  g: [44, "M44 22V72A22 18 0 0 1 4 80M44 46A22 24 0 1 0 0 46A22 24 0 1 0 44 46"],
  h: [42, "M0 0V70M0 43A21 21 0 0 1 42 43V70"],
  i: [0, "M0 22V70M0 4V5"],
  ı: [0, "M0 22V70"],
  j: [8, "M8 22V76A12 12 0 0 1 -4 87M8 4V5"],
  k: [36, "M0 0V70M34 22L0 50M12 41L36 70"],
  l: [0, "M0 0V70"],
  m: [68, "M0 22V70M0 40A17 18 0 0 1 34 40V70M34 40A17 18 0 0 1 68 40V70"],
  n: [42, "M0 22V70M0 43A21 21 0 0 1 42 43V70"],
  o: [48, "M0 46A24 24 0 1 0 48 46A24 24 0 1 0 0 46"],
  p: [44, "M0 22V90M0 46A22 24 0 1 0 44 46A22 24 0 1 0 0 46"],
  q: [44, "M44 22V90M44 46A22 24 0 1 0 0 46A22 24 0 1 0 44 46"],
  r: [26, "M0 22V70M0 44C0 30 10 21 26 23"],
  s: [
    35,
    "M33 31C30 25 25 22 18 22C8 22 2 27 2 34C2 42 9 44 18 46C27 48 34 50 34 58C34 65 27 70 18 70C9 70 3 66 0 60",
  ],
  t: [28, "M10 6V56C10 67 16 71 28 69M0 24H26"],
  u: [42, "M0 22V49A21 21 0 0 0 42 49V22M42 49V70"],
  v: [42, "M0 22L21 70L42 22"],
  w: [64, "M0 22L16 70L32 26L48 70L64 22"],
  x: [40, "M0 22L40 70M40 22L0 70"],
  y: [42, "M0 22L21 69M42 22L21 69C16 82 12 88 2 87"],
  z: [38, "M0 22H38L0 70H38"],
  ß: [42, "M0 70V17A17 17 0 0 1 34 16C34 27 21 28 21 37C21 47 42 46 42 58C42 69 27 73 15 68"],
  "0": [46, "M0 35A23 35 0 1 0 46 35A23 35 0 1 0 0 35"],
  "1": [22, "M0 12L20 0V70"],
  "2": [42, "M1 18A20 19 0 0 1 41 19C41 32 30 42 0 70H42"],
  "3": [
    42,
    "M2 11C8 2 14 0 20 0C32 0 39 7 39 16C39 27 31 33 18 33C33 33 42 40 42 51C42 63 33 70 20 70C12 70 4 66 0 57",
  ],
  "4": [48, "M38 70V0L0 50H48"],
  "5": [42, "M38 0H8L4 32C10 27 15 25 21 25C34 25 42 35 42 47C42 60 34 70 20 70C11 70 4 66 0 59"],
  "6": [44, "M34 0C18 14 0 30 0 48A22 22 0 1 0 44 48A22 22 0 1 0 0 48"],
  "7": [42, "M0 0H42L14 70"],
  "8": [
    44,
    "M5 16.5A17 16.5 0 1 0 39 16.5A17 16.5 0 1 0 5 16.5M1 51.5A21 18.5 0 1 0 43 51.5A21 18.5 0 1 0 1 51.5",
  ],
  "9": [44, "M10 70C26 56 44 40 44 22A22 22 0 1 0 0 22A22 22 0 1 0 44 22"],
  ".": [2, "M1 69V70"],
  ",": [4, "M4 68L0 80"],
  ":": [2, "M1 34V35M1 69V70"],
  ";": [4, "M3 34V35M4 68L0 80"],
  "!": [2, "M1 0V48M1 69V70"],
  "?": [36, "M0 14C4 4 10 0 18 0C29 0 36 7 36 17C36 30 18 32 18 48M18 69V70"],
  "-": [24, "M0 44H24"],
  "–": [42, "M0 44H42"],
  "+": [42, "M0 40H42M21 19V61"],
  "=": [42, "M0 32H42M0 50H42"],
  "/": [30, "M0 76L30 -4"],
  "%": [60, "M52 0L8 70M0 15A11 14 0 1 0 22 15A11 14 0 1 0 0 15M38 55A11 14 0 1 0 60 55A11 14 0 1 0 38 55"],
  "(": [14, "M14 -4C-4 20 -4 54 14 80"],
  ")": [14, "M0 -4C18 20 18 54 0 80"],
  "'": [2, "M1 0V14"],
  "°": [20, "M0 10A10 10 0 1 0 20 10A10 10 0 1 0 0 10"],
  "€": [54, "M54 12A32 35 0 1 0 54 58M0 27H40M0 43H38"],
  "<": [38, "M38 20L0 41L38 62"],
  ">": [38, "M0 20L38 41L0 62"],
  " ": [14, ""],
};

/** Combining marks, centred on the letter, at the height for small letters. */
const marks: Readonly<Record<string, string>> = {
  "\u0300": "M6 9L-7 -2",
  "\u0301": "M-6 9L7 -2",
  "\u0302": "M-10 9L0 -1L10 9",
  "\u0303": "M-12 7C-6 -2 6 10 12 2",
  "\u0308": "M-10 4V5M10 4V5",
  "\u030a": "M-7 1A7 7 0 1 0 7 1A7 7 0 1 0 -7 1",
};
const cedilla = "M0 70C5 78 2 85 -8 85";

/** Space after each letter. */
const tracking = 19;

export interface TextStyle {
  /** Left end, middle or right end, depending on `anchor`; pixels. */
  readonly x: number;
  /** The baseline; pixels. */
  readonly y: number;
  /** Height of the capitals; pixels. */
  readonly size: number;
  readonly colour: string;
  /** Stroke width as a fraction of `size`; 0.13 by default. */
  readonly weight?: number;
  readonly anchor?: "start" | "middle" | "end";
}

/** The letters of a text that the font lacks. */
export function undrawableLetters(text: string): string[] {
  return [...text.normalize("NFD")].filter(
    (letter) => glyphs[letter] === undefined && marks[letter] === undefined && letter !== "\u0327",
  );
}

/** A name without the letters that the font lacks, and without the brackets around them. */
export function drawableText(name: string): string {
  const unknown = new Set(undrawableLetters(name));
  return (
    [...name]
      .filter((letter) => !unknown.has(letter))
      .join("")
      // Bounded: a speaker's name.
      .replace(/^[\s()]+|[\s()]+$/g, "")
  );
}

/** Width of a line in pixels. */
export function textWidth(text: string, size: number): number {
  return (layOut(text).width * size) / 70;
}

/** A line of text as an SVG element, without letters that the font lacks. */
export function text(
  line: string,
  { x, y, size, colour, weight = 0.13, anchor = "start" }: TextStyle,
): string {
  const { width, paths } = layOut(line);
  const scale = size / 70;
  const shift = anchor === "start" ? 0 : anchor === "middle" ? width / 2 : width;
  const at = `translate(${round(x - shift * scale)} ${round(y - size)}) scale(${round(scale)})`;
  return `<g transform="${at}" fill="none" stroke="${colour}" stroke-width="${round(weight * 70)}" stroke-linecap="round" stroke-linejoin="round">${paths}</g>`;
}

/** Truncates a line to a width in pixels. */
export function fitText(line: string, size: number, room: number): string {
  if (textWidth(line, size) <= room) return line;
  let kept = line;
  while (kept !== "" && textWidth(`${kept}..`, size) > room) kept = kept.slice(0, -1);
  return `${kept.trimEnd()}..`;
}

function layOut(line: string): { width: number; paths: string } {
  let x = 0;
  let last = { x: 0, width: 0, isTall: false };
  const paths: string[] = [];
  const letters = [...line.normalize("NFD")];
  for (const [i, letter] of letters.entries()) {
    if (letter === "\u0327") paths.push(pathAt(cedilla, last.x + last.width / 2, 0));
    else if (marks[letter] !== undefined)
      paths.push(pathAt(marks[letter], last.x + last.width / 2, last.isTall ? -22 : 0));
    const isDotless = letter === "i" && marks[letters[i + 1] ?? ""] !== undefined;
    const glyph = glyphs[isDotless ? "ı" : letter];
    if (glyph === undefined) continue;
    const [width, path] = glyph;
    if (path !== "") paths.push(pathAt(path, x, 0));
    last = { x, width, isTall: /[A-Z]/.test(letter) };
    x += width + tracking;
  }
  return { width: Math.max(0, x - tracking), paths: paths.join("") };
}

function pathAt(path: string, x: number, y: number): string {
  return `<path transform="translate(${round(x)} ${y})" d="${path}"/>`;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
