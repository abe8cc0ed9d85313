import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { digestsOf, notePath, programBundle, programFile } from "./bundled-program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("the programs that run on media files are bundled from the sources as they are", () => {
  for (const program of [
    "server/platform/confinement/probe.ts",
    "server/processing/media/render/process/child.ts",
  ]) {
    const bundle = programBundle(join(root, program)) ?? "";
    assert.match(bundle, /\.parley-bundled\/[^/]+\/(probe|child)\.js$/, program);
    const { sources } = JSON.parse(readFileSync(notePath(join(root, program)), "utf8"));
    assert.ok(relative(root, bundle) in sources, "a damaged bundle is not used");
  }
});

test("a bundle is used until one of its sources changes or is removed", () => {
  const folder = mkdtempSync(join(root, "node_modules", ".cache", "program-"));
  const [program, part] = [join(folder, "program.ts"), join(folder, "part.ts")];
  const note = notePath(program);
  after(() => {
    rmSync(folder, { recursive: true });
    rmSync(note);
  });
  for (const source of [program, part]) writeFileSync(source, "export {};");
  assert.equal(programBundle(program), null);
  const sources = digestsOf([program, part].map((source) => relative(root, source)));
  writeFileSync(note, JSON.stringify({ file: "made-up/program.js", sources }));
  assert.match(programBundle(program) ?? "", /\.parley-bundled\/made-up\/program\.js$/);
  assert.equal(programFile(program), program, "an installation has removed the bundle");
  writeFileSync(part, "export const changed = true;");
  assert.equal(programBundle(program), null);
  writeFileSync(part, "export {};");
  assert.notEqual(programBundle(program), null);
  rmSync(part);
  assert.equal(programBundle(program), null);
});
