import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, globSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { listLibrary } from "../../../contract/recordings/library.ts";
import { buildWebApp, findWebApp } from "./build.ts";

test("the built web app can be read by every user, also one that was built closed", async () => {
  const folder = await buildWebApp(() => {});
  chmodSync(folder, 0o700);
  chmodSync(join(folder, "index.html"), 0o600);
  assert.equal(await buildWebApp(() => {}), folder);
  assert.equal(findWebApp(), folder);
  assert.equal(statSync(join(folder, "..")).mode & 0o555, 0o555);
  for (const name of ["", ...globSync("**/*", { cwd: folder })]) {
    const entry = statSync(join(folder, name));
    assert.equal(entry.mode & 0o777, entry.isDirectory() ? 0o755 : 0o644, name);
  }
});

test("the built web app has methods and paths of operations, and nothing else of them", async () => {
  const folder = await buildWebApp(() => {});
  const scripts = globSync("assets/*.js", { cwd: folder })
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
  assert.ok(scripts.includes(listLibrary.path));
  assert.ok(!scripts.includes(listLibrary.summary));
  // The codes themselves are there, with the texts of the app.
  assert.doesNotMatch(scripts, /errors:\[["'`]invalid_/);
});

test("compiling texts needs no lingui.config.ts, whose extractor is not installed where the web app is only built", () => {
  const compiler = new URL("../../../web/vite-messages.ts", import.meta.url).href;
  const program = `
    const { compileTexts } = await import(${JSON.stringify(compiler)});
    const code = 'import { msg } from "@lingui/core/macro"; export const text = msg\`Hello\`;';
    process.stdout.write(compileTexts(code, "/text.ts").code);`;
  // Lingui searches for the file in the current folder and those above.
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: tmpdir(),
    encoding: "utf8",
  });
  assert.match(printed, /id: "Hello"/);
});
