import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { ObjectMissingError, type ObjectStore } from "../store.ts";

/** Bytes of a mebibyte. */
export const mebibyte = 1024 * 1024;

/** A key that no other test uses. */
export function newKey(): string {
  return `conformance/${randomUUID()}/object`;
}

/** Bytes that differ at every position, so that a misplaced part is detected. */
export function sampleBytes(size: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(size);
  let state = seed;
  for (let at = 0; at + 4 <= size; at += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes.writeInt32LE(state, at);
  }
  return bytes;
}

/** The bytes in pieces of `step`. */
export function inSteps(bytes: Buffer, step: number): Readable {
  const count = Math.ceil(bytes.length / step);
  return Readable.from(
    Array.from({ length: count }, (_, index) => bytes.subarray(index * step, (index + 1) * step)),
  );
}

/** A body that breaks after these bytes, as a lost connection does. */
export function brokenAfter(bytes: Buffer): Readable {
  return Readable.from(
    (async function* () {
      for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
      throw new Error("connection reset");
    })(),
  );
}

/** All of an object. */
export async function read(store: ObjectStore, key: string): Promise<Buffer> {
  return buffer((await store.get(key)).body);
}

/** All entries of a listing. */
export async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of list) found.push(item);
  return found;
}

/** Asserts that nothing is stored at a key. */
export async function nothingAt(store: ObjectStore, key: string): Promise<void> {
  assert.equal(await store.head(key), null);
  assert.deepEqual(await all(store.list(key)), []);
  await assert.rejects(store.get(key), ObjectMissingError);
}
