import { hash01 } from "../content/timeline.ts";
import type { DemoSegment } from "../content/types.ts";

/** Samples per second. Speech has little above 12 kHz, and 48 kHz takes twice as long to encode. */
export const sampleRate = 24_000;

/** Loudness values per second. */
export const loudnessPerSec = 10;

/** Formants of each vowel in Hz. */
const formants: Readonly<Record<string, readonly [number, number, number]>> = {
  a: [730, 1150, 2500],
  e: [480, 1850, 2500],
  i: [300, 2200, 2900],
  o: [480, 850, 2400],
  u: [320, 750, 2300],
};
const widths = [90, 140, 240];
const gains = [1, 0.45, 0.12];
const tableSize = 512;

/** One vowel with the consonants before it, or a pause. */
interface Syllable {
  readonly vowel: string;
  /** Whether it starts with a hissing consonant such as s, f or t. */
  readonly hiss: boolean;
  /** Duration relative to the other syllables. */
  readonly length: number;
}

/** The voice of one speaker. */
interface Voice {
  readonly pitchHz: number;
  readonly loudness: number;
  /** One period of the waveform for each vowel. */
  readonly tables: ReadonlyMap<string, Float32Array>;
}

/**
 * Synthesizes a babble that resembles speech: one voice per speaker, one syllable per syllable of the text, pauses at
 * punctuation, at exactly the transcript's times. Deterministic.
 * @param lowVoices keys of speakers with a low voice.
 * @returns mono samples, and the loudness of each tenth of a second, 0 to 1.
 */
export function synthesizeSpeech(
  segments: readonly DemoSegment[],
  { durationMs, lowVoices }: { durationMs: number; lowVoices: ReadonlySet<string> },
): { samples: Float32Array; loudness: Float32Array } {
  const samples = new Float32Array(Math.ceil((durationMs * sampleRate) / 1000));
  const voices = new Map<string, Voice>();
  for (const segment of segments) {
    const voice = voices.get(segment.key) ?? makeVoice(segment.key, lowVoices.has(segment.key));
    voices.set(segment.key, voice);
    addSegment(samples, segment, voice);
  }
  const loudness = measureLoudness(samples);
  addRoomTone(samples);
  return { samples, loudness };
}

function makeVoice(key: string, isLow: boolean): Voice {
  const pitchHz = (isLow ? 98 : 172) + hash01(`${key}/pitch`) * (isLow ? 38 : 52);
  const size = (isLow ? 0.94 : 1.08) + hash01(`${key}/size`) * 0.08;
  const tables = new Map(
    Object.entries(formants).map(([vowel, peaks]) => [vowel, vowelPeriod(pitchHz, peaks, size)]),
  );
  return { pitchHz, loudness: 0.27 + hash01(`${key}/loudness`) * 0.21, tables };
}

/** One period of a vowel: harmonics weighted by its formants. */
function vowelPeriod(pitchHz: number, peaks: readonly number[], size: number): Float32Array {
  const table = new Float32Array(tableSize);
  for (let k = 1; k * pitchHz < 3600; k++) {
    const gain = peaks.reduce((sum, peak, i) => {
      const off = (k * pitchHz - peak * size) / (widths[i] ?? 1);
      return sum + (gains[i] ?? 0) / (1 + off * off);
    }, 0.04 / k);
    for (let i = 0; i < tableSize; i++)
      table[i] = (table[i] ?? 0) + gain * Math.sin((2 * Math.PI * k * i) / tableSize + k * k * 0.7);
  }
  const power = Math.sqrt(table.reduce((sum, value) => sum + value * value, 0) / tableSize);
  return table.map((value) => value / power);
}

/** Splits a text into syllables; a word without a vowel is one short syllable. */
function syllablesOf(text: string): Syllable[] {
  const found: Syllable[] = [];
  for (const word of text.split(/\s+/u)) {
    const plain = word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    // Bounded: one word.
    const parts = [...plain.matchAll(/([^aeiouy\d]*)([aeiouy]+|\d)/g)];
    if (parts.length === 0) found.push({ vowel: "e", hiss: false, length: 0.8 });
    for (const [, before = "", vowel = "e"] of parts) {
      const sound = vowel.slice(-1) === "y" ? "i" : (vowel.at(0) ?? "e");
      found.push({
        vowel: formants[sound] ? sound : "e",
        hiss: /[sfztkcxh]/.test(before),
        length:
          0.8 +
          0.25 * Math.min(3, before.length + vowel.length - 1) +
          hash01(`${text}/${found.length}`) * 0.3,
      });
    }
    const end = /[.!?…]["'”’)]*$/.test(plain) ? 2.4 : /[,;:–-]$/.test(plain) ? 1.3 : 0.15;
    found.push({ vowel: "", hiss: false, length: end });
  }
  while (found.at(-1)?.vowel === "") found.pop();
  return found;
}

function addSegment(samples: Float32Array, segment: DemoSegment, voice: Voice): void {
  const syllables = syllablesOf(segment.text);
  // Sentences vary in loudness.
  const emphasis = 0.5 + hash01(`${segment.text}/emphasis`) * 0.6;
  const total = syllables.reduce((sum, { length }) => sum + length, 0);
  const first = (segment.start * sampleRate) / 1000;
  const perUnit = ((segment.end - segment.start) * sampleRate) / 1000 / total;
  let at = first;
  let phase = 0;
  let before: Float32Array | undefined;
  let noise = 0x2545f491 ^ segment.start;
  let hissing = 0;
  for (const [index, { vowel, hiss, length }] of syllables.entries()) {
    const count = Math.floor(at + length * perUnit) - Math.floor(at);
    const offset = Math.floor(at);
    at += length * perUnit;
    const table = voice.tables.get(vowel);
    if (table === undefined) continue;
    const old = before ?? table;
    before = table;
    // Pitch and loudness fall towards the end of a sentence, and each syllable has its own stress.
    const stress = hash01(`${segment.text}/${segment.start}/${index}`);
    const isRising = segment.text.endsWith("?") && index >= syllables.length - 3;
    const pitch =
      voice.pitchHz * (1.1 - (0.22 * index) / syllables.length + stress * 0.1 + (isRising ? 0.22 : 0));
    const falloff = 1.1 - (0.3 * index) / syllables.length;
    const loud = voice.loudness * emphasis * falloff * (0.55 + stress * 0.55);
    const [attack, release] = [Math.min(900, count * 0.3), Math.min(1700, count * 0.42)];
    const hissLength = hiss ? Math.min(1300, count * 0.35) : 0;
    const step = (pitch / sampleRate) * tableSize;
    for (let i = 0; i < count && offset + i < samples.length; i++) {
      const edge = Math.min(1, i / attack, (count - i) / release);
      // Smoothstep.
      const envelope = edge * edge * (3 - 2 * edge);
      const mixed = Math.min(1, i / (attack * 1.6));
      phase = (phase + step) % tableSize;
      const index0 = phase | 0;
      const next = (index0 + 1) % tableSize;
      const part = phase - index0;
      const a = (old[index0] ?? 0) * (1 - part) + (old[next] ?? 0) * part;
      const b = (table[index0] ?? 0) * (1 - part) + (table[next] ?? 0) * part;
      let value = (a + (b - a) * mixed) * envelope * loud * 0.5;
      if (i < hissLength) {
        noise = (Math.imul(noise, 1664525) + 1013904223) | 0;
        hissing += (noise / 0x80000000 - hissing) * 0.6;
        value += hissing * loud * 0.16 * Math.sin((Math.PI * i) / hissLength);
      }
      samples[offset + i] = value;
    }
  }
}

/** The loudness of each tenth of a second, relative to the loudest. */
function measureLoudness(samples: Float32Array): Float32Array {
  const size = sampleRate / loudnessPerSec;
  const levels = new Float32Array(Math.ceil(samples.length / size));
  for (let i = 0; i < levels.length; i++) {
    let sum = 0;
    const end = Math.min(samples.length, (i + 1) * size);
    for (let j = i * size; j < end; j += 3) sum += (samples[j] ?? 0) ** 2;
    levels[i] = Math.sqrt((sum * 3) / size);
  }
  const max = levels.reduce((a, b) => Math.max(a, b), 1e-9);
  return levels.map((level) => level / max);
}

/** Applies a low-pass filter, the echo of a small room and faint noise. */
function addRoomTone(samples: Float32Array): void {
  const delay = Math.round(sampleRate * 0.031);
  let soft = 0;
  let noise = 1;
  for (let i = 0; i < samples.length; i++) {
    soft += ((samples[i] ?? 0) - soft) * 0.55;
    noise = (Math.imul(noise, 1664525) + 1013904223) | 0;
    const back = i >= delay ? (samples[i - delay] ?? 0) * 0.16 : 0;
    samples[i] = soft + back + (noise / 0x80000000) * 0.0006;
  }
}
