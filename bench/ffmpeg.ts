import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Whether both are installed: files of hours are too big to be kept with the code. */
export async function hasFfmpeg(): Promise<boolean> {
  return Promise.all(["ffmpeg", "ffprobe"].map((program) => run(program, ["-version"]))).then(
    () => true,
    () => false,
  );
}

/** Runs it in a folder. */
export async function ffmpeg(folder: string, args: readonly string[]): Promise<void> {
  await run("ffmpeg", ["-nostdin", "-v", "error", "-y", ...args], { cwd: folder });
}

/**
 * Lets a clip follow itself, without encoding anything: hours of encoding would take longer than the rest of the bench.
 * @returns path of the file it wrote.
 */
export async function repeat(
  folder: string,
  clip: string,
  times: number,
  name: string,
  args: readonly string[] = [],
): Promise<string> {
  const path = join(folder, name);
  await ffmpeg(folder, ["-stream_loop", String(times - 1), "-i", clip, "-c", "copy", ...args, path]);
  return path;
}
