import assert from "node:assert/strict";
import { chmodSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
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
