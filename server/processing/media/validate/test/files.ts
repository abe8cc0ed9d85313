import { readFileSync } from "node:fs";
import type { MediaExpectation, MediaLimits, ValidationResult } from "../../facts.ts";
import { memoryBytes } from "../bytes.ts";
import { examine } from "../examine.ts";

export const limits: MediaLimits = { maxDurationSec: 10_800, maxBytes: 2 ** 32 };
export const video: MediaExpectation = { kind: "video" };
export const audio: MediaExpectation = { kind: "audio" };

export function oneStep(extension: "mov" | "mp4" | "mp3" | "m4a"): MediaExpectation {
  return { kind: "one_step", extension };
}

/** A committed file of test/fixtures/media; scripts/make-media-fixtures.sh says how it was made. */
export function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../../../../test/fixtures/media/${name}`, import.meta.url));
}

/** Validates in this thread, where an exception is a failed test. */
export function validateHere(
  content: Uint8Array,
  expectation: MediaExpectation = video,
  allowed: MediaLimits = limits,
): ValidationResult {
  return examine(memoryBytes(content), expectation, allowed);
}

/** The reason of a refusal. */
export function reasonFor(
  content: Uint8Array,
  expectation: MediaExpectation = video,
  allowed: MediaLimits = limits,
): string {
  const result = validateHere(content, expectation, allowed);
  if (result.ok) throw new Error(`accepted: ${JSON.stringify(result.facts)}`);
  return result.reason;
}

/** A box made of parts. */
export function box(type: string, ...parts: readonly (Buffer | readonly number[])[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
}

/** Numbers of 32 bits. */
export function words(...values: readonly number[]): Buffer {
  const content = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => {
    content.writeUInt32BE(value >>> 0, 4 * index);
  });
  return content;
}

/** Where the bodies of all boxes of a type begin, anywhere in the file. */
export function bodiesOf(content: Buffer, type: string): number[] {
  const found: number[] = [];
  for (let at = content.indexOf(type, 0, "latin1"); at >= 0; at = content.indexOf(type, at + 4, "latin1"))
    found.push(at + 4);
  return found;
}

/** The body of the only box of a type, or of the one with that number. */
export function bodyOf(content: Buffer, type: string, number = 0): number {
  const at = bodiesOf(content, type)[number];
  if (at === undefined) throw new Error(`no ${type} in the file`);
  return at;
}

/** A copy with a number of 32 bits changed, counted from the body of a box. */
export function withWord(content: Buffer, type: string, offset: number, value: number, number = 0): Buffer {
  const copy = Buffer.from(content);
  copy.writeUInt32BE(value >>> 0, bodyOf(content, type, number) + offset);
  return copy;
}

/** A copy in which a box is of another type. */
export function renamed(content: Buffer, type: string, to: string, number = 0): Buffer {
  const copy = Buffer.from(content);
  copy.write(to, bodyOf(content, type, number) - 4, "latin1");
  return copy;
}
