import assert from "node:assert/strict";
import { test } from "node:test";
import { formatOf } from "../../../shared/files/media-formats.ts";
import { readMediaUrl } from "./media-url.ts";

const workspaceId = "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11";
const prefixed = {
  ownKey: (name: string) => (name.startsWith("parley/") ? name.slice("parley/".length) : null),
};
const folder = `imports/${workspaceId}`;

test("an object of the own bucket is named by its key or its s3 URL, prefix included", () => {
  const key = `${folder}/a/b.mp4`;
  assert.deepEqual(readMediaUrl(key, workspaceId, prefixed, "mine"), { key });
  assert.deepEqual(readMediaUrl(`s3://mine/parley/${key}`, workspaceId, prefixed, "mine"), { key });
});

test("other buckets, folders and hosts, and malformed keys, are refused", () => {
  for (const url of [
    `s3://mine/${folder}/b.mp4`,
    `s3://other/parley/${folder}/b.mp4`,
    `s3://mine/parley/recordings/x/media.mp4`,
    `s3://mine/parley/imports/0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a12/b.mp4`,
    `S3://mine/parley/${folder}/b.mp4`,
    "s3://mine/parley/",
    "s3://mine",
    "http://169.254.169.254/latest/meta-data",
    `${folder}/../../recordings/x.mp4`,
    `${folder}//x.mp4`,
    `${folder}/a b.mp4`,
    `${folder}/${"x".repeat(201)}`,
    `${folder}`,
    "",
  ])
    assert.ok("fault" in readMediaUrl(url, workspaceId, prefixed, "mine"), url);
  assert.ok("fault" in readMediaUrl(`s3://null/parley/${folder}/b.mp4`, workspaceId, prefixed, null));
});

test("the format is the name's extension, whatever its case", () => {
  assert.deepEqual(["a.MP4", "a.b.m4a", "x/y.mov", "mp3", "a.mp4.txt", ""].map(formatOf), [
    "mp4",
    "m4a",
    "mov",
    null,
    null,
    null,
  ]);
});
