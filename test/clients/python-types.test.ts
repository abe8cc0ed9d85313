import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { skipWithout } from "../support/programs.ts";
import { packageFolder, readExamples } from "./client-setup.ts";
import { pythonSource, skipWithoutPython } from "./python-setup.ts";

test("the Python package, its examples and the test programs have no type errors", {
  skip: skipWithoutPython || skipWithout("mypy"),
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-mypy-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const programs = ["journey.py", "uploads.py", "oauth.py"].map((name) =>
    join(packageFolder("python"), "test", name),
  );
  for (const [index, example] of readExamples("python", "python").entries()) {
    programs.push(join(folder, `example_${index}.py`));
    writeFileSync(join(folder, `example_${index}.py`), example);
  }
  const env = { ...process.env, MYPYPATH: pythonSource };
  for (const what of [["-p", "parley_sdk"], programs]) {
    const { status, stdout } = spawnSync("mypy", ["--cache-dir", folder, ...what], { env, encoding: "utf8" });
    assert.equal(status, 0, stdout);
  }
});
