/**
 * Reads Prometheus's text format 0.0.4 and refuses everything that its description doesn't allow.
 * Source of the grammar: https://prometheus.io/docs/instrumenting/exposition_formats/
 */

const metricTypes = ["counter", "gauge", "histogram", "summary", "untyped"] as const;
type MetricType = (typeof metricTypes)[number];

/** A line with a value. */
interface Sample {
  /** Of the series: for histograms with `_bucket`, `_sum` or `_count`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric with its metadata and all its samples. */
interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly samples: Sample[];
}

/** A parsed scrape. */
export interface Scrape {
  readonly families: ReadonlyMap<string, MetricFamily>;
  /** Every sample, in order. */
  readonly samples: readonly Sample[];
  /** The value of the series with exactly these labels; undefined without one. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** The sum over all series of the metric that have at least these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

const nameRule = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelNameRule = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const valueRule = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]Inf|NaN)$/;

/** @throws Error that names the line and the rule it breaks. */
export function parseScrape(text: string): Scrape {
  if (!text.endsWith("\n")) throw new Error("the last line must end with a line feed");
  const families = new Map<string, MetricFamily>();
  const helps = new Map<string, string>();
  const seen = new Set<string>();
  const closed = new Set<string>();
  let current: MetricFamily | null = null;
  const samples: Sample[] = [];
  for (const [index, line] of text.slice(0, -1).split("\n").entries()) {
    const fail = (problem: string): never => {
      throw new Error(`line ${index + 1}: ${problem}: ${line}`);
    };
    if (line.includes("\r")) fail("carriage return");
    if (line.trim() === "") continue;
    if (line.startsWith("#")) {
      current = readComment(line, fail);
      continue;
    }
    const sample = readSample(line, fail);
    if (current === null || familyOf(sample.name, current) !== current.name)
      return fail("a sample outside the group of its metric, or of a metric without TYPE");
    const key = keyOf(sample.name, sample.labels);
    if (seen.has(key)) fail("a duplicate series");
    seen.add(key);
    current.samples.push(sample);
    samples.push(sample);
  }
  for (const family of families.values()) checkFamily(family);
  for (const name of helps.keys()) if (!families.has(name)) throw new Error(`${name} has HELP without TYPE`);
  return {
    families,
    samples,
    value: (name, labels = {}) =>
      samples.find((sample) => keyOf(sample.name, sample.labels) === keyOf(name, labels))?.value,
    sum: (name, labels = {}) =>
      samples
        .filter(
          (sample) =>
            sample.name === name &&
            Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
        )
        .reduce((total, { value }) => total + value, 0),
  };

  function readComment(line: string, fail: (problem: string) => never): MetricFamily | null {
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+)(?: (.*))?$/.exec(line) ?? [];
    if (keyword === undefined) return current;
    if (!nameRule.test(name)) fail("an invalid metric name");
    if (current !== null && current.name !== name) closed.add(current.name);
    if (closed.has(name)) fail("the lines of a metric must be one group");
    if (keyword === "HELP") {
      if (helps.has(name)) fail("a second HELP");
      helps.set(name, unescapeText(rest, /^[\\n]$/, fail));
      return null;
    }
    if (families.has(name)) fail("a second TYPE");
    const type = metricTypes.find((known) => known === rest) ?? fail("an unknown type");
    const help = helps.get(name);
    if (help === undefined || help === "") return fail("a metric without HELP");
    const family: MetricFamily = { name, help, type, samples: [] };
    families.set(name, family);
    return family;
  }
}

/** The metric that a series belongs to. */
function familyOf(name: string, { name: family, type }: MetricFamily): string {
  if (type === "histogram" || type === "summary") {
    const suffixes = type === "histogram" ? ["_bucket", "_sum", "_count"] : ["", "_sum", "_count"];
    if (suffixes.some((suffix) => name === family + suffix)) return family;
  }
  return type === "histogram" ? "" : name;
}

function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  return JSON.stringify([name, ...Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function readSample(line: string, fail: (problem: string) => never): Sample {
  const name = /^[^\s{]+/.exec(line)?.[0] ?? "";
  if (!nameRule.test(name)) fail("an invalid metric name");
  let rest = line.slice(name.length);
  const labels: Record<string, string> = {};
  if (rest.startsWith("{")) rest = readLabels(rest, labels, fail);
  const [, value = "", timestamp] = /^[ \t]+(\S+)(?:[ \t]+(-?\d+))?[ \t]*$/.exec(rest) ?? [];
  if (!valueRule.test(value)) fail("an invalid value");
  if (timestamp !== undefined) fail("a timestamp, which a direct scrape must not have");
  return { name, labels, value: Number(value.replace("Inf", "Infinity")) };
}

/** @returns what follows the closing brace. */
function readLabels(text: string, labels: Record<string, string>, fail: (problem: string) => never): string {
  let rest = text.slice(1);
  while (!rest.startsWith("}")) {
    // Bounded: one line of a scrape.
    const [all = "", name = "", value = ""] = /^([^=\s]+)="((?:[^"\\]|\\.)*)"/.exec(rest) ?? [];
    if (all === "") fail("an invalid label");
    if (!labelNameRule.test(name) || name.startsWith("__")) fail("an invalid label name");
    if (name in labels) fail("a label twice");
    labels[name] = unescapeText(value, /^[\\n"]$/, fail);
    rest = rest.slice(all.length);
    if (rest.startsWith(",")) rest = rest.slice(1);
    else if (!rest.startsWith("}")) fail("labels must be separated by commas");
  }
  return rest.slice(1);
}

function unescapeText(text: string, allowed: RegExp, fail: (problem: string) => never): string {
  return text.replace(/\\(.?)/g, (_all, char: string) => {
    if (!allowed.test(char)) fail("an invalid escape sequence");
    return char === "n" ? "\n" : char;
  });
}

/** Rules for the samples of a metric together. */
function checkFamily(family: MetricFamily): void {
  const { name, type, samples } = family;
  if (type === "counter")
    for (const { value } of samples)
      if (!(value >= 0 && Number.isFinite(value))) throw new Error(`${name}: a counter must be 0 or more`);
  if (type === "histogram") checkHistogram(family);
}

interface HistogramGroup {
  /** Upper bounds and counts, in order. */
  readonly buckets: [number, number][];
  sum?: number;
  count?: number;
}

function checkHistogram({ name, samples }: MetricFamily): void {
  const groups = new Map<string, HistogramGroup>();
  for (const sample of samples) {
    const { le, ...labels } = sample.labels;
    const key = keyOf(name, labels);
    const group = groups.get(key) ?? { buckets: [] };
    groups.set(key, group);
    if (sample.name === `${name}_bucket`) {
      if (le === undefined) throw new Error(`${name}: a bucket without le`);
      group.buckets.push([Number(le.replace("Inf", "Infinity")), sample.value]);
    } else if (le !== undefined) throw new Error(`${sample.name} has the label le`);
    else if (sample.name === `${name}_sum`) group.sum = sample.value;
    else group.count = sample.value;
  }
  for (const [key, group] of groups) checkHistogramGroup(key, group);
}

function checkHistogramGroup(key: string, { buckets, sum, count }: HistogramGroup): void {
  if (sum === undefined || count === undefined) throw new Error(`${key}: needs _sum and _count`);
  const last = buckets.at(-1);
  if (last?.[0] !== Number.POSITIVE_INFINITY) throw new Error(`${key}: the last bucket must be +Inf`);
  if (last[1] !== count) throw new Error(`${key}: the bucket +Inf must equal _count`);
  for (const [index, [le, value]] of buckets.entries()) {
    const before = buckets[index - 1];
    if (before === undefined) continue;
    if (!(le > before[0])) throw new Error(`${key}: buckets must be in increasing order`);
    if (value < before[1]) throw new Error(`${key}: buckets must be cumulative`);
  }
}
