/** A voice in a part of a recording. */
export interface Voice {
  readonly embedding: readonly number[];
  /** How long it was heard. */
  readonly ms: number;
}

export interface ClusterLimits {
  /** Voices whose means have a lower cosine stay apart; null: the count decides alone. */
  readonly minCosine: number | null;
  /** How many clusters to leave at least. */
  readonly count: number;
}

interface Cluster {
  /** Of the unit vectors of its voices, weighted by how long they were heard. */
  mean: Float64Array;
  ms: number;
  members: number[];
}

/**
 * Joins voices that are alike by Ward's rule: always the two clusters whose union is the least spread, so that a short odd
 * sound does not become a speaker while two long voices are joined. Takes the square of the number of voices in memory, so
 * the parts of a recording are joined first.
 * @returns the cluster of each voice, numbered from 0 by first appearance.
 */
export function clusterVoices(voices: readonly Voice[], { minCosine, count }: ClusterLimits): number[] {
  const clusters = voices.map((voice, index): Cluster => {
    const length = Math.hypot(...voice.embedding) || 1;
    return {
      mean: Float64Array.from(voice.embedding, (value) => value / length),
      ms: Math.max(1, voice.ms),
      members: [index],
    };
  });
  const pairs = createPairs(clusters);
  for (let left = clusters.length; left > Math.max(1, count); left--) {
    const [a, b] = pairs.closest();
    const [into, from] = [clusters[a], clusters[b]];
    if (into === undefined || from === undefined) break;
    if (minCosine !== null && cosine(into.mean, from.mean) < minCosine) break;
    unite(into, from);
    pairs.update(a, b);
  }
  const numbers = new Array<number>(voices.length).fill(0);
  const kept = clusters
    .filter(({ members }) => members.length > 0)
    .toSorted((x, y) => Math.min(...x.members) - Math.min(...y.members));
  for (const [number, { members }] of kept.entries()) for (const index of members) numbers[index] = number;
  return numbers;
}

/** The mean voice of each cluster. */
export function meanVoices(voices: readonly Voice[], numbers: readonly number[]): Voice[] {
  const means: Cluster[] = [];
  for (const [index, { embedding, ms }] of voices.entries()) {
    const length = Math.hypot(...embedding) || 1;
    const voice = {
      mean: Float64Array.from(embedding, (value) => value / length),
      ms: Math.max(1, ms),
      members: [],
    };
    const mean = means[numbers[index] ?? 0];
    if (mean === undefined) means[numbers[index] ?? 0] = voice;
    else unite(mean, voice);
  }
  return means.map(({ mean, ms }) => ({ embedding: [...mean], ms }));
}

function unite(into: Cluster, from: Cluster): void {
  const ms = into.ms + from.ms;
  into.mean = into.mean.map((value, i) => (value * into.ms + (from.mean[i] ?? 0) * from.ms) / ms);
  into.ms = ms;
  into.members.push(...from.members);
  from.members = [];
}

/** How much each pair of clusters would add to the spread, with the closest partner of each kept up to date. */
function createPairs(clusters: readonly Cluster[]) {
  const size = clusters.length;
  const costs = new Float64Array(size * size).fill(Number.POSITIVE_INFINITY);
  const partners = new Int32Array(size).fill(-1);
  const cost = (a: number, b: number): number => costs[a * size + b] ?? Number.POSITIVE_INFINITY;
  const isGone = (a: number): boolean => clusters[a]?.members.length === 0;

  const measure = (a: number, b: number): void => {
    const value = isGone(a) || isGone(b) ? Number.POSITIVE_INFINITY : spread(clusters[a], clusters[b]);
    costs[a * size + b] = value;
    costs[b * size + a] = value;
  };
  const findPartner = (a: number): void => {
    let best = -1;
    for (let b = 0; b < size; b++)
      if (b !== a && !isGone(b) && (best < 0 || cost(a, b) < cost(a, best))) best = b;
    partners[a] = isGone(a) ? -1 : best;
  };
  for (let a = 0; a < size; a++) for (let b = 0; b < a; b++) measure(a, b);
  for (let a = 0; a < size; a++) findPartner(a);

  return {
    closest(): [a: number, b: number] {
      let best: [number, number] = [-1, -1];
      for (let a = 0; a < size; a++) {
        const b = partners[a] ?? -1;
        if (b >= 0 && (best[0] < 0 || cost(a, b) < cost(...best))) best = [a, b];
      }
      return best;
    },
    /** After cluster `b` was united into `a`. */
    update(a: number, b: number): void {
      for (let c = 0; c < size; c++) if (c !== a) measure(a, c);
      for (let c = 0; c < size; c++)
        if (c === a || c === b || partners[c] === a || partners[c] === b) findPartner(c);
        else if (partners[c] !== -1 && cost(c, a) < cost(c, partners[c] ?? -1)) partners[c] = a;
    },
  };
}

function spread(a: Cluster | undefined, b: Cluster | undefined): number {
  if (a === undefined || b === undefined) return Number.POSITIVE_INFINITY;
  let distance = 0;
  for (let i = 0; i < a.mean.length; i++) distance += ((a.mean[i] ?? 0) - (b.mean[i] ?? 0)) ** 2;
  return (distance * a.ms * b.ms) / (a.ms + b.ms);
}

function cosine(a: Float64Array, b: Float64Array): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += (a[i] ?? 0) * (b[i] ?? 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b) || 1);
}
