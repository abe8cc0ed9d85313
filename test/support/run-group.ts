import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { countFor, runningFile } from "./record-requests.ts";
import { closeShared, shareAmongFiles } from "./shared.ts";
import { restartTimeLimit } from "./time-limit.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Runs test files one after the other in this process, so that what they import is loaded once. Each file is a test with
 * the file's own tests and hooks inside, and must leave the process as it found it.
 */
export function runGroup(files: readonly string[]): void {
  shareAmongFiles();
  after(closeShared);
  for (const file of files) {
    const path = relative(root, file);
    let environment: NodeJS.ProcessEnv = {};
    test(path, async () => {
      environment = { ...process.env };
      writeFileSync(runningFile(process.argv[1] as string), path);
      countFor(file);
      restartTimeLimit();
      await import(file);
    });
    test(`${path} leaves the environment variables as they were`, () => {
      const names = Object.keys({ ...environment, ...process.env });
      const changed = names.filter(
        // The image library sets this one when it is loaded.
        (name) => process.env[name] !== environment[name] && name !== "VIPSHOME",
      );
      assert.deepEqual(changed, [], "a file that leaves others runs alone");
    });
  }
}
