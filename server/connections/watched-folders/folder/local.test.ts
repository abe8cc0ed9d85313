import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { openLocalFolder, removalName } from "./local.ts";

const root = mkdtempSync(join(tmpdir(), "parley-place-"));
after(() => rmSync(root, { recursive: true, force: true }));
const watched = openLocalFolder(root);

async function stampOf(name: string): Promise<string> {
  const { files } = await watched.list("");
  return files.find((file) => file.name === name)?.stamp ?? "";
}

test("an error file replaces a pipe of its name, which nobody reads", async () => {
  execFileSync("mkfifo", [join(root, "bad.mp4.error.txt")]);
  await watched.writeText("bad.mp4.error.txt", "It is damaged.");
  assert.equal(readFileSync(join(root, "bad.mp4.error.txt"), "utf8"), "It is damaged.");
  await watched.remove("bad.mp4.error.txt");
  await watched.remove("bad.mp4.error.txt");
  assert.deepEqual(readdirSync(root), []);
});

test("a file that was replaced since it was listed is neither moved nor deleted", async () => {
  writeFileSync(join(root, "latest.mp4"), "old");
  const stamp = await stampOf("latest.mp4");
  writeFileSync(join(root, "latest.mp4"), "another");
  await assert.rejects(watched.remove("latest.mp4", stamp), { isOutdated: true });
  await assert.rejects(watched.move("latest.mp4", "parley-imported/latest.mp4", stamp), { isOutdated: true });
  assert.equal(readFileSync(join(root, "latest.mp4"), "utf8"), "another");
  assert.deepEqual(readdirSync(join(root, "parley-imported")), []);
  mkdirSync(join(root, "sub"));
  writeFileSync(join(root, "parley-imported/latest.mp4"), "taken");
  await watched.move("latest.mp4", "parley-imported/latest.mp4", await stampOf("latest.mp4"));
  assert.equal(readFileSync(join(root, "parley-imported/latest (2).mp4"), "utf8"), "another");
  writeFileSync(join(root, "other.mp4"), "other");
  await watched.remove("other.mp4", await stampOf("other.mp4"));
  assert.deepEqual(readdirSync(root).sort(), ["parley-imported", "sub"]);
});

test("a removal that was killed after renaming the file is finished by the next listing, and touches no other file", async () => {
  const folder = join(root, "killed");
  mkdirSync(folder);
  writeFileSync(join(folder, "Call.mp4"), "recording");
  const [file] = (await watched.list("killed")).files;
  const removal = removalName(join(folder, "Call.mp4"), file?.stamp ?? "");
  renameSync(join(folder, "Call.mp4"), removal);
  // Replaced just before it was renamed, and not compared yet.
  const other = removalName(join(folder, "Other.mp4"), file?.stamp ?? "");
  writeFileSync(other, "the only copy");
  assert.deepEqual((await watched.list("killed")).files, []);
  assert.deepEqual(readdirSync(folder), [basename(other)]);
});

test("nothing is written, moved or deleted behind a link", async () => {
  const outside = mkdtempSync(join(tmpdir(), "parley-outside-"));
  after(() => rmSync(outside, { recursive: true }));
  writeFileSync(join(outside, "secret.mp4"), "secret");
  symlinkSync(outside, join(root, "link"));
  const words = /symbolic link/;
  await assert.rejects(watched.writeText("link/secret.mp4", "overwritten"), words);
  await assert.rejects(watched.remove("link/secret.mp4"), words);
  await assert.rejects(watched.move("link/secret.mp4", "secret.mp4", "6 1"), words);
  await assert.rejects(watched.list("link"), words);
  assert.equal(readFileSync(join(outside, "secret.mp4"), "utf8"), "secret");
});
