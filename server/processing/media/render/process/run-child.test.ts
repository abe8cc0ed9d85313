import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../../../test/support/until.ts";
import { MediaFailedError, MediaKilledError } from "../errors.ts";
import { renderMedia } from "../index.ts";
import { factsOf, fixture, inFolder, render } from "../test/support.ts";

/** Ids of the media programs running in a folder, whether bundled or not; found through /proc, so none are seen without it. */
const programsIn = (folder: string): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return /process.child\.ts/.test(command) && readlinkSync(`/proc/${pid}/cwd`) === folder;
      } catch {
        return false; // It has ended in the meantime.
      }
    })
    .map(Number);

/** A file that is read endlessly: the demuxer searches an endless mp3 for its first frame. */
const endless = (folder: string): string => {
  const path = join(folder, "endless.mp3");
  symlinkSync("/dev/zero", path);
  return path;
};

const isLinux = process.platform === "linux";
const assertGone = (folder: string): void => {
  if (isLinux) assert.deepEqual(programsIn(folder), []);
};

test("time limit: a file that hangs the program fails, and the program ends", async () => {
  await inFolder(async (folder) => {
    await assert.rejects(render(endless(folder), folder, { timeoutMs: 1000 }), (error: unknown) => {
      assert.ok(error instanceof MediaFailedError);
      assert.match(error.message, /within 1 s\./);
      return true;
    });
    assertGone(folder);
  });
});

test("abort: ends the program at once with the signal's reason, also before it starts", async () => {
  await inFolder(async (folder) => {
    const stop = new AbortController();
    const reason = new Error("the server stops");
    const running = render(endless(folder), folder, { signal: stop.signal });
    const refused = assert.rejects(running, reason);
    if (isLinux) await until("the program runs", () => programsIn(folder).length > 0);
    stop.abort(reason);
    await refused;
    assertGone(folder);
    await assert.rejects(render(fixture("render/tone.mp3"), folder, { signal: stop.signal }), reason);
  });
});

if (isLinux) {
  test("memory limit: the program is ended and the file fails", async () => {
    await inFolder(async (folder) => {
      await assert.rejects(
        render(endless(folder), folder, { maxMemoryMb: 20 }),
        (error: unknown) => error instanceof MediaFailedError && /memory/.test(error.message),
      );
      assertGone(folder);
    });
  });

  test("environment: none of the server's variables reach the program, and it comes after the server for time and memory", async () => {
    await inFolder(async (folder) => {
      const stop = new AbortController();
      const running = render(endless(folder), folder, { signal: stop.signal });
      const refused = assert.rejects(running);
      const pid = await until("the program runs", () => programsIn(folder)[0]);
      // Right after the start the process is still a copy of this one.
      await until("its environment is that of the program", () => {
        const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").filter(Boolean);
        return environment.map((line) => line.split("=")[0]).join() === "PATH,MALLOC_ARENA_MAX";
      });
      // Where memory runs out, the kernel ends it, and not the server.
      await until(
        "it comes after the server",
        () => getPriority(pid) > 0 && readFileSync(`/proc/${pid}/oom_score_adj`, "utf8").trim() === "500",
      );
      stop.abort();
      await refused;
    });
  });

  test("when the server dies, the program ends, even while it hangs", async () => {
    await inFolder(async (folder) => {
      const source = `
        import { renderMedia } from ${JSON.stringify(new URL("../index.ts", import.meta.url).href)};
        await renderMedia(${JSON.stringify({ inputPath: endless(folder), facts: factsOf("a.mp3"), outDir: folder })});`;
      const server = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "ignore" });
      await until("the program runs", () => programsIn(folder).length === 1);
      server.kill("SIGKILL");
      await until("the program is gone", () => programsIn(folder).length === 0);
    });
  });

  test("a crash once the media file is complete costs only what the recording is shown with", async () => {
    await inFolder(async (folder) => {
      const inputPath = join(folder, "long.mp3");
      const minute = readFileSync(fixture("render/tone.mp3"));
      for (let i = 0; i < 200; i++) writeFileSync(inputPath, minute, { flag: "a" });
      const result = await renderMedia(
        { inputPath, facts: factsOf(inputPath, { durationMs: 2_400_000 }), outDir: folder },
        { onProgress: () => programsIn(folder).forEach((pid) => void process.kill(pid, "SIGSEGV")) },
      );
      assert.deepEqual([result.mediaPath, result.contentType, result.waveform], [null, "audio/mpeg", null]);
      assert.deepEqual(
        result.failures.map(({ companion }) => companion),
        ["waveform"],
      );
      assert.match(result.failures[0]?.detail ?? "", /SIGSEGV/);
      assertGone(folder);
    });
  });

  test("killed from outside: an error of the machine, so that it is retried; SIGKILL has its own error", async () => {
    for (const signal of ["SIGTERM", "SIGKILL"] as const)
      await inFolder(async (folder) => {
        const running = render(endless(folder), folder);
        const refused = assert.rejects(running, (error: unknown) => {
          assert.ok(!(error instanceof MediaFailedError));
          // As the system does when memory runs out.
          assert.equal(error instanceof MediaKilledError, signal === "SIGKILL");
          assert.match(String(error), new RegExp(signal));
          return true;
        });
        process.kill(await until("the program runs", () => programsIn(folder)[0]), signal);
        await refused;
        assertGone(folder);
      });
  });
}

test("output limit: output that becomes too large fails; existing files in the folder do not count", async () => {
  await inFolder(async (folder) => {
    writeFileSync(join(folder, "before"), Buffer.alloc(100_000));
    const path = fixture("onestep-mpeg4-pcm.mov");
    await assert.rejects(
      render(path, folder, { maxOutputBytes: 50_000 }),
      (error: unknown) => error instanceof MediaFailedError && /too large/.test(error.message),
    );
  });
  await inFolder(async (folder) => {
    writeFileSync(join(folder, "before"), Buffer.alloc(5_000_000));
    await render(fixture("onestep-mpeg4-pcm.mov"), folder, { maxOutputBytes: 4_000_000 });
  });
});

test("a missing file or an impossible folder is an error of the machine", async () => {
  await inFolder(async (folder) => {
    const isMachine = (error: unknown): boolean =>
      !(error instanceof MediaFailedError) && /ENOENT|ENOTDIR|EEXIST/.test(String(error));
    await assert.rejects(render(join(folder, "missing.mp4"), folder), isMachine);
    writeFileSync(join(folder, "file"), "");
    await assert.rejects(render(fixture("render/tone.mp3"), join(folder, "file", "out")), isMachine);
    assertGone(folder);
  });
});
