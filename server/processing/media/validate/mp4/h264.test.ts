import assert from "node:assert/strict";
import { test } from "node:test";
import { createProbe, memoryBytes } from "../bytes.ts";
import { inspectSample, pictureSize } from "./h264.ts";

/** Bits of a parameter set: numbers as `ue(v)`, strings as they are. */
function parameterSet(...parts: readonly (number | string)[]): Uint8Array {
  const bits = parts
    .map((part) => {
      if (typeof part === "string") return part;
      const binary = (part + 1).toString(2);
      return "0".repeat(binary.length - 1) + binary;
    })
    .join("");
  const padded = `${bits}1${"0".repeat((8 - ((bits.length + 1) % 8)) % 8)}`;
  const bytes = padded.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [];
  return Uint8Array.from([0x67, ...bytes]);
}

const baseline = "010000100000000000011110";
const high = "011001000000000000011110";

test("picture size: by the macroblocks, less the cropping", () => {
  // id, frame number, order type 2, reference frames, gaps, width, height, frames only, direct 8x8, cropping
  assert.deepEqual(pictureSize(parameterSet(baseline, 0, 0, 2, 1, "0", 39, 22, "1", "1", "0")), {
    width: 640,
    height: 368,
  });
  assert.deepEqual(pictureSize(parameterSet(baseline, 0, 0, 2, 1, "0", 39, 22, "1", "1", "1", 0, 0, 0, 4)), {
    width: 640,
    height: 360,
  });
});

test("picture size: interlaced pictures have two fields, order types and scaling lists are skipped", () => {
  const fields = ["0", "1", "1", "1", 0, 0, 0, 2] as const;
  assert.deepEqual(pictureSize(parameterSet(baseline, 0, 0, 2, 1, "0", 119, 33, ...fields)), {
    width: 1920,
    height: 1080,
  });
  const flatLists = `1${"0".repeat(8)}`;
  assert.deepEqual(
    pictureSize(parameterSet(high, 0, 1, 0, 0, "0", flatLists, 0, 0, 4, 1, "0", 39, 22, "1", "1", "0")),
    { width: 640, height: 368 },
  );
});

test("picture size: 8192 x 8192 cropped to 360 lines is 8192 x 8192 to the decoder", () => {
  const cropped = parameterSet(baseline, 0, 0, 2, 1, "0", 511, 511, "1", "1", "1", 0, 3776, 0, 3916);
  assert.deepEqual(pictureSize(cropped), { width: 8192, height: 8192 });
});

test("picture size: a parameter set that ends early is refused", () => {
  assert.throws(() => pictureSize(Uint8Array.from([0x67, 0x42, 0, 0x1e])), /ends too early/);
});

test("sample: IDR, recovery point and intra pictures are keyframes; others, and invalid ones, are not", () => {
  const look = (...units: readonly (readonly number[])[]): boolean => {
    const content = Uint8Array.from(units.flatMap((unit) => [0, 0, 0, unit.length, ...unit]));
    return inspectSample(createProbe(memoryBytes(content)), 0, content.length, 4).isKeyframe;
  };
  const delimiter = [0x09, 0x10];
  assert.ok(look([0x65, 0x88, 0x84, 0]));
  assert.ok(look(delimiter, [0x06, 0x05, 1, 7, 0x80], [0x65, 0x88]));
  assert.ok(look(delimiter, [0x06, 0x06, 1, 0xc4, 0x80], [0x41, 0x9a, 0, 0]), "recovery point");
  assert.ok(look([0x41, 0b1000_1000, 0x80, 0, 0]), "slice type 7: all slices are intra");
  assert.ok(!look([0x41, 0b1001_1010, 0x80, 0, 0]), "slice type 5");
  assert.ok(!look(delimiter));
  assert.ok(!look([]));
  const probe = createProbe(memoryBytes(new Uint8Array(64).fill(255)));
  assert.deepEqual(inspectSample(probe, 0, 64, 4), { isKeyframe: false, sizes: [] });
  assert.deepEqual(inspectSample(probe, 1000, 64, 4), { isKeyframe: false, sizes: [] });
});
