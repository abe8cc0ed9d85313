/** Start and end of a spoken word in milliseconds. */
export interface WordTime {
  readonly start: number;
  readonly end: number;
}

/** A word and when it was spoken; null: not known. */
export interface TimedWord {
  readonly text: string;
  readonly time: WordTime | null;
}

/** Parts between anchors are aligned this often again, which bounds the work. */
const maxDepth = 4;

/** The words of a text: what whitespace separates. */
export function splitWords(text: string): string[] {
  return text.match(/\S+/g) ?? [];
}

/**
 * Carries the times of a text's words over to a changed text. A word keeps its time where only one word of the former
 * text can be meant. A single word that replaces others takes their time. Every other word loses its time, because none
 * is better than a wrong one. Takes time proportional to the number of words.
 * @param from the words as they were spoken, in order, with times that do not overlap.
 * @param to the words of the changed text.
 * @returns the time of each word of `to`, in order, not overlapping.
 */
export function alignWords(from: readonly TimedWord[], to: readonly string[]): (WordTime | null)[] {
  const times = to.map((): WordTime | null => null);
  const aligner: Aligner = {
    from,
    fromKeys: from.map(({ text }) => keyOf(text)),
    toKeys: to.map(keyOf),
    times,
  };
  align(aligner, { fromStart: 0, fromEnd: from.length, toStart: 0, toEnd: to.length }, 0);
  return times;
}

interface Aligner {
  readonly from: readonly TimedWord[];
  readonly fromKeys: readonly string[];
  readonly toKeys: readonly string[];
  readonly times: (WordTime | null)[];
}

/** A part of both texts; the ends are exclusive. */
interface Range {
  readonly fromStart: number;
  readonly fromEnd: number;
  readonly toStart: number;
  readonly toEnd: number;
}

/** Case and punctuation do not make another word. */
function keyOf(word: string): string {
  return (
    word
      .normalize("NFKC")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "") || word
  );
}

/** Aligns what both parts begin and end with, then what is between these. */
function align(aligner: Aligner, range: Range, depth: number): void {
  const { fromKeys, toKeys } = aligner;
  const most = Math.min(range.fromEnd - range.fromStart, range.toEnd - range.toStart);
  let head = 0;
  while (head < most && fromKeys[range.fromStart + head] === toKeys[range.toStart + head]) head += 1;
  let tail = 0;
  while (head + tail < most && fromKeys[range.fromEnd - 1 - tail] === toKeys[range.toEnd - 1 - tail])
    tail += 1;
  const middle: Range = {
    fromStart: range.fromStart + head,
    fromEnd: range.fromEnd - tail,
    toStart: range.toStart + head,
    toEnd: range.toEnd - tail,
  };
  // Words beside the change that occur in it too may be those of the change.
  const changed = new Set([
    ...fromKeys.slice(middle.fromStart, middle.fromEnd),
    ...toKeys.slice(middle.toStart, middle.toEnd),
  ]);
  const isChanged = (index: number): boolean => changed.has(fromKeys[index] as string);
  let sureHead = head;
  while (sureHead > 0 && isChanged(range.fromStart + sureHead - 1)) sureHead -= 1;
  let sureTail = tail;
  while (sureTail > 0 && isChanged(range.fromEnd - sureTail)) sureTail -= 1;
  for (let n = 0; n < sureHead; n++) give(aligner, range.fromStart + n, range.toStart + n);
  for (let n = 1; n <= sureTail; n++) give(aligner, range.fromEnd - n, range.toEnd - n);
  const isSure = sureHead === head && sureTail === tail;
  if (isSure && isReplacedByOne(aligner, middle)) return;
  alignBetween(aligner, middle, depth);
}

function give({ from, times }: Aligner, fromIndex: number, toIndex: number): void {
  times[toIndex] = from[fromIndex]?.time ?? null;
}

/** Whether one word stands for others, whose time it then takes. */
function isReplacedByOne({ from, times }: Aligner, { fromStart, fromEnd, toStart, toEnd }: Range): boolean {
  if (toEnd - toStart !== 1 || fromEnd === fromStart) return false;
  const [first, last] = [from[fromStart]?.time, from[fromEnd - 1]?.time];
  if (first && last) times[toStart] = { start: first.start, end: last.end };
  return true;
}

/** Aligns the words that occur once in both parts and in the same order, then what is between these. */
function alignBetween(aligner: Aligner, range: Range, depth: number): void {
  const anchors = findAnchors(aligner, range);
  if (anchors.length === 0) return;
  let { fromStart, toStart } = range;
  for (const { from, to } of anchors) {
    give(aligner, from, to);
    if (depth < maxDepth) align(aligner, { fromStart, fromEnd: from, toStart, toEnd: to }, depth + 1);
    [fromStart, toStart] = [from + 1, to + 1];
  }
  if (depth < maxDepth)
    align(aligner, { fromStart, fromEnd: range.fromEnd, toStart, toEnd: range.toEnd }, depth + 1);
}

interface Anchor {
  readonly from: number;
  readonly to: number;
}

function findAnchors({ fromKeys, toKeys }: Aligner, range: Range): Anchor[] {
  const inFrom = placesOf(fromKeys, range.fromStart, range.fromEnd);
  const inTo = placesOf(toKeys, range.toStart, range.toEnd);
  const shared: Anchor[] = [];
  for (const [key, to] of inTo) {
    const from = inFrom.get(key);
    if (to !== null && from !== undefined && from !== null) shared.push({ from, to });
  }
  return findLongestChain(shared.sort((a, b) => a.to - b.to));
}

/** Where each word stands; null: at several places. */
function placesOf(keys: readonly string[], start: number, end: number): Map<string, number | null> {
  const places = new Map<string, number | null>();
  for (let index = start; index < end; index++) {
    const key = keys[index] as string;
    places.set(key, places.has(key) ? null : index);
  }
  return places;
}

/** The longest part in which `from` increases too (patience sorting). */
function findLongestChain(anchors: readonly Anchor[]): Anchor[] {
  /** For each length, the anchor with the smallest `from` that ends a chain of it. */
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  anchors.forEach(({ from }, index) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const half = (low + high) >> 1;
      if ((anchors[ends[half] as number] as Anchor).from < from) low = half + 1;
      else high = half;
    }
    previous[index] = low === 0 ? undefined : ends[low - 1];
    ends[low] = index;
  });
  const chain: Anchor[] = [];
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) chain.push(anchors[at] as Anchor);
  return chain.reverse();
}
