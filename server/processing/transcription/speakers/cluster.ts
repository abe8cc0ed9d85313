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
}

/** Two clusters that are joined, by the numbers of voices in them. */
interface Union {
  readonly a: number;
  readonly b: number;
  /** How much the union adds to the spread. */
  readonly cost: number;
  readonly cosine: number;
}

/** Voices that are clustered; the rest, which were heard the shortest, join the nearest cluster. */
const maxClustered = 500;

/**
 * Joins voices that are alike by Ward's rule: always the two clusters whose union is the least spread, so that a short odd
 * sound does not become a speaker while two long voices are joined. Takes the square of the number of voices in time and
 * memory, and at most that of `maxClustered`.
 * @returns the cluster of each voice, numbered from 0 by first appearance.
 */
export function clusterVoices(voices: readonly Voice[], limits: ClusterLimits): number[] {
  const order = voices
    .map((_, index) => index)
    .toSorted((a, b) => (voices[b]?.ms ?? 0) - (voices[a]?.ms ?? 0));
  const chosen = order.slice(0, maxClustered).toSorted((a, b) => a - b);
  const own = chosen.map((index) => toCluster(voices[index] as Voice));
  const roots = joinClusters(own, limits);
  const labels = new Array<number>(voices.length).fill(0);
  for (const [at, index] of chosen.entries()) labels[index] = roots[at] ?? 0;
  const means = new Map<number, Cluster>();
  for (const [at, root] of roots.entries()) {
    const mean = means.get(root);
    means.set(root, mean === undefined ? (own[at] as Cluster) : union(mean, own[at] as Cluster));
  }
  for (const index of order.slice(maxClustered)) labels[index] = nearest(means, voices[index] as Voice);
  const numbers = new Map<number, number>();
  return labels.map((label) => {
    const number = numbers.get(label) ?? numbers.size;
    numbers.set(label, number);
    return number;
  });
}

/** @returns a number per cluster, equal for those that belong together. */
function joinClusters(clusters: readonly Cluster[], { minCosine, count }: ClusterLimits): number[] {
  const parents = clusters.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while (parents[root] !== root) root = parents[root] as number;
    return root;
  };
  // In the order of their costs, these are the unions that repeatedly joining the closest two would make.
  const unions = findUnions(clusters).toSorted((x, y) => x.cost - y.cost);
  for (const { a, b, cosine: alike } of unions.slice(0, Math.max(0, clusters.length - Math.max(1, count)))) {
    if (minCosine !== null && alike < minCosine) break;
    parents[rootOf(b)] = rootOf(a);
  }
  return parents.map((_, index) => rootOf(index));
}

/**
 * Joins all clusters to one, by a chain of nearest neighbors: two that are each other's nearest are joined at once, since
 * a union is never nearer to a third than the nearer of its halves was.
 */
function findUnions(voices: readonly Cluster[]): Union[] {
  const size = voices.length;
  const clusters: (Cluster | null)[] = [...voices];
  const costs = new Float64Array(size * size);
  for (let a = 0; a < size; a++)
    for (let b = 0; b < a; b++) {
      const value = spread(voices[a] as Cluster, voices[b] as Cluster);
      costs[a * size + b] = value;
      costs[b * size + a] = value;
    }
  const unions: Union[] = [];
  const chain: number[] = [];
  for (let start = 0; unions.length < size - 1; ) {
    while (clusters[start] == null) start++;
    if (chain.length === 0) chain.push(start);
    const a = chain.at(-1) as number;
    const before = chain.at(-2) ?? -1;
    const b = nearestOf(a, before, clusters, costs);
    if (b !== before) {
      chain.push(b);
      continue;
    }
    chain.length -= 2;
    unions.push(join(a, b, clusters, costs));
  }
  return unions;
}

/** The nearest other cluster; `preferred` where several are equally near, so that the chain ends. */
function nearestOf(
  a: number,
  preferred: number,
  clusters: readonly (Cluster | null)[],
  costs: Float64Array,
): number {
  const size = clusters.length;
  let best = preferred;
  let least = preferred === -1 ? Number.POSITIVE_INFINITY : (costs[a * size + preferred] ?? 0);
  for (let c = 0; c < size; c++) {
    if (c === a || clusters[c] === null) continue;
    const value = costs[a * size + c] ?? 0;
    if (best === -1 || value < least) {
      best = c;
      least = value;
    }
  }
  return best;
}

/** Joins `b` into `a`, and updates the costs of `a` by the formula of Lance and Williams. */
function join(a: number, b: number, clusters: (Cluster | null)[], costs: Float64Array): Union {
  const size = clusters.length;
  const [into, from] = [clusters[a] as Cluster, clusters[b] as Cluster];
  const cost = costs[a * size + b] ?? 0;
  for (const [c, other] of clusters.entries()) {
    if (other === null || c === a || c === b) continue;
    const value =
      ((other.ms + into.ms) * (costs[c * size + a] ?? 0) +
        (other.ms + from.ms) * (costs[c * size + b] ?? 0) -
        other.ms * cost) /
      (other.ms + into.ms + from.ms);
    costs[c * size + a] = value;
    costs[a * size + c] = value;
  }
  clusters[a] = union(into, from);
  clusters[b] = null;
  return { a, b, cost, cosine: cosine(into.mean, from.mean) };
}

/** The cluster whose mean is the most like a voice. */
function nearest(means: ReadonlyMap<number, Cluster>, voice: Voice): number {
  const { mean } = toCluster(voice);
  let best = { label: 0, alike: Number.NEGATIVE_INFINITY };
  for (const [label, cluster] of means) {
    const alike = cosine(cluster.mean, mean);
    if (alike > best.alike) best = { label, alike };
  }
  return best.label;
}

/** The mean voice of each cluster. */
export function meanVoices(voices: readonly Voice[], numbers: readonly number[]): Voice[] {
  const means: Cluster[] = [];
  for (const [index, voice] of voices.entries()) {
    const number = numbers[index] ?? 0;
    const mean = means[number];
    means[number] = mean === undefined ? toCluster(voice) : union(mean, toCluster(voice));
  }
  return means.map(({ mean, ms }) => ({ embedding: [...mean], ms }));
}

function toCluster({ embedding, ms }: Voice): Cluster {
  const length = lengthOf(embedding);
  const mean = new Float64Array(embedding).map((value) => value / length);
  return { mean, ms: Math.max(1, ms) };
}

function union(a: Cluster, b: Cluster): Cluster {
  const ms = a.ms + b.ms;
  return { ms, mean: a.mean.map((value, i) => (value * a.ms + (b.mean[i] ?? 0) * b.ms) / ms) };
}

function spread(a: Cluster, b: Cluster): number {
  let distance = 0;
  for (let i = 0; i < a.mean.length; i++) distance += ((a.mean[i] ?? 0) - (b.mean[i] ?? 0)) ** 2;
  return (distance * a.ms * b.ms) / (a.ms + b.ms);
}

function cosine(a: Float64Array, b: Float64Array): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += (a[i] ?? 0) * (b[i] ?? 0);
  return dot / (lengthOf(a) * lengthOf(b));
}

/** Not 0, so that it can be divided by. */
function lengthOf(vector: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i] ?? 0) ** 2;
  return Math.sqrt(sum) || 1;
}
