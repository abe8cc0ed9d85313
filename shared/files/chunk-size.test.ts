import assert from "node:assert/strict";
import { test } from "node:test";
import { createChunkSize, isRefusedByProxy } from "./chunk-size.ts";

const mebibyte = 1024 * 1024;

test("refused chunks are halved until one arrives, and never grow beyond it", () => {
  const size = createChunkSize();
  const sent: number[] = [];
  for (let request = 0; request < 10; request++) {
    const bytes = size.next(32 * mebibyte);
    sent.push(bytes / mebibyte);
    if (bytes > mebibyte) assert.equal(size.failed(bytes, "refused"), true);
    else size.arrived(bytes);
  }
  assert.deepEqual(sent, [32, 16, 8, 4, 2, 1, 1, 1, 1, 1]);
  assert.equal(size.next(mebibyte / 2), mebibyte / 2);
});

test("after a connection is reset, chunks grow again to the largest that has arrived", () => {
  const size = createChunkSize();
  size.arrived(8 * mebibyte);
  size.failed(8 * mebibyte, "reset");
  size.failed(4 * mebibyte, "reset");
  const sent: number[] = [];
  for (let request = 0; request < 4; request++) {
    const bytes = size.next(32 * mebibyte);
    sent.push(bytes / mebibyte);
    size.arrived(bytes);
  }
  assert.deepEqual(sent, [2, 4, 8, 8]);
});

test("chunks of 256 KiB are not made smaller", () => {
  const size = createChunkSize();
  assert.equal(size.failed(300 * 1024, "refused"), true);
  assert.equal(size.next(mebibyte), 256 * 1024);
  assert.equal(size.failed(256 * 1024, "refused"), false);
});

test("a 413 with a detail is the server's own, any other a proxy's", () => {
  assert.equal(isRefusedByProxy(413, "<html><h1>413 Request Entity Too Large</h1></html>"), true);
  assert.equal(isRefusedByProxy(413, ""), true);
  assert.equal(isRefusedByProxy(413, '{"error":"body_too_large","detail":"…"}'), false);
  assert.equal(isRefusedByProxy(502, ""), false);
});
