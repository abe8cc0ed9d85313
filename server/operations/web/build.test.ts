import assert from "node:assert/strict";
import { chmodSync, globSync, readFileSync, statSync } from "node:fs";
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
