import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isPostmaster } from "./process-facts.ts";

test("a postmaster that an emulator runs is recognized by its second word, and only in its own cluster", {
  skip: process.platform !== "linux" && "only Linux lists the words of a command",
}, async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-facts-")));
  after(() => rmSync(folder, { recursive: true }));
  const [cluster, other] = [join(folder, "cluster"), join(folder, "other")];
  for (const path of [cluster, other]) mkdirSync(path);
  // Node takes the place of the emulator.
  const start = async (name: string): Promise<number> => {
    const program = join(folder, name);
    writeFileSync(program, 'process.stdout.write("."); setInterval(() => {}, 60_000);');
    const child = spawn(process.execPath, [program, "-D", cluster], {
      cwd: cluster,
      stdio: ["ignore", "pipe", "inherit"],
    });
    after(async () => {
      child.kill();
      await once(child, "exit");
    });
    await once(child.stdout, "data");
    return child.pid ?? 0;
  };
  const postmaster = await start("postgres");
  assert.equal(await isPostmaster(postmaster, cluster), true);
  assert.equal(await isPostmaster(postmaster, other), false);
  assert.equal(await isPostmaster(await start("pg_dump"), cluster), false);
});
