import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const { prune } = require("./install-prune.cjs") as { prune(root: string): void };
const modules = fileURLToPath(new URL("../node_modules", import.meta.url));

test("what packages contain for programmers is removed; Node is a fifth smaller, and runs TypeScript, WebAssembly and native packages", {
  skip: process.platform !== "linux" && "Node of other systems has none",
}, () => {
  const root = mkdtempSync(join(tmpdir(), "parley-prune-"));
  after(() => rmSync(root, { recursive: true, force: true }));
  const node = join(root, "node_modules", "node", "bin", "node");
  mkdirSync(join(node, ".."), { recursive: true });
  cpSync(join(modules, "node", "bin", "node"), node, { dereference: true });
  const files = [
    "test/package.json",
    "one/index.js",
    "one/index.d.ts",
    "one/test/index.js",
    "one/LICENSE.md",
  ];
  for (const file of files) {
    mkdirSync(join(root, "node_modules", file, ".."), { recursive: true });
    writeFileSync(join(root, "node_modules", file), "");
  }
  const before = statSync(node);
  prune(root);
  const { size, mode } = statSync(node);
  assert.equal(mode, before.mode);
  assert.deepEqual(
    files.filter((file) => existsSync(join(root, "node_modules", file))),
    ["test/package.json", "one/index.js", "one/LICENSE.md"],
  );
  // A second run, or a Node that is packaged without it, changes nothing.
  prune(root);
  assert.equal(statSync(node).size, size);
  assert.ok(size < 125e6, `${size}`);

  const script = join(root, "script.ts");
  writeFileSync(
    script,
    `import { createRequire } from "node:module";
    const require = createRequire(${JSON.stringify(import.meta.url)});
    const native = [require("node-av"), require("sharp"), require("sherpa-onnx-node")].map((one) => typeof one);
    const compiled = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    console.log(JSON.stringify([native satisfies string[], String(compiled)]));`,
  );
  assert.deepEqual(JSON.parse(execFileSync(node, [script], { encoding: "utf8" })), [
    ["object", "function", "object"],
    "[object WebAssembly.Module]",
  ]);
});
