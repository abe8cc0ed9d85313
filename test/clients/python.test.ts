import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeClient, obtainCode } from "../support/oauth.ts";
import { packageFolder, readExamples, startClientSetup } from "./client-setup.ts";
import { pythonSource, skipWithoutPython } from "./python-setup.ts";

const hasWheel = spawnSync("python3", ["-c", "import pip, hatchling"]).status === 0;

test("the Python client: every operation, both clients, the README's examples", {
  skip: skipWithoutPython,
}, async (t) => {
  const { app, workspace, folder, runProgram, beginUploads } = await startClientSetup();
  // `-B`: writes no compiled files beside the source.
  const runPython = (...args: readonly string[]): Promise<string> =>
    runProgram("env", [`PYTHONPATH=${pythonSource}`, "python3", "-B", ...args]);

  await t.test("the journey", async () => {
    copyFileSync(join(packageFolder("python"), "test", "journey.py"), join(folder, "journey.py"));
    assert.match(await runPython("journey.py"), /every operation called/);
  });

  await t.test(
    "an upload resumes after its URL expired, with the same file only, and ends if the server stores nothing",
    async () => {
      copyFileSync(join(packageFolder("python"), "test", "uploads.py"), join(folder, "uploads.py"));
      const uploads = [...(await beginUploads()), ...(await beginUploads())];
      assert.match(await runPython("uploads.py", ...uploads), /uploads checked/);
    },
  );

  await t.test("the OAuth operations", async () => {
    const client = await makeClient(app, workspace);
    const { code, verifier } = await obtainCode(app, client, workspace.member);
    copyFileSync(join(packageFolder("python"), "test", "oauth.py"), join(folder, "oauth.py"));
    assert.match(
      await runPython("oauth.py", client.id, client.secret ?? "", code, verifier),
      /tokens checked/,
    );
  });

  await t.test("the examples", async () => {
    const examples = readExamples("python", "python");
    assert.equal(examples.length, 8);
    const printed: string[] = [];
    for (const [index, example] of examples.entries()) {
      writeFileSync(join(folder, `example_${index}.py`), example);
      printed.push(await runPython(`example_${index}.py`));
    }
    assert.match(printed[0] ?? "", /: /);
    assert.match(printed[1] ?? "", /100 %\n[0-9a-f-]{36}\n$/);
    assert.match(printed[2] ?? "", /^audio [0-9a-f-]{36}\n$/);
    assert.ok(existsSync(join(folder, "download.mp4")));
    assert.match(printed[6] ?? "", /not_found/);
    assert.match(printed[7] ?? "", /invalid_client/);
  });

  await t.test(
    "the wheel",
    { skip: hasWheel ? false : "needs pip and hatchling (Debian: python3-pip, python3-hatchling)" },
    async () => {
      const build = ["-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder];
      await runProgram("python3", [...build, packageFolder("python")]);
      const wheel = join(folder, "parley_sdk-1.0.0-py3-none-any.whl");
      const program = "import parley_sdk; print(parley_sdk.__file__)";
      assert.ok(
        (await runProgram("env", [`PYTHONPATH=${wheel}`, "python3", "-c", program])).startsWith(wheel),
      );
    },
  );
});
