import { spawn } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { DemoMeeting } from "../content/types.ts";
import type { RenderJob } from "./render-process.ts";

/** Ten minutes of video take about five seconds of one core. */
const timeoutMs = 300_000;

/**
 * Renders a sample meeting's media file in a separate process, so that a crash of the native libraries can't end this
 * one. Deterministic: the same meeting gives the same bytes.
 * @param minutes length to cut the meeting to; null: the whole meeting.
 * @throws Error with the process's output.
 */
export async function renderMeetingFile(
  meeting: DemoMeeting,
  path: string,
  minutes: number | null,
): Promise<void> {
  const job: RenderJob = {
    title: meeting.title,
    path,
    minutes,
    watch: { parentPid: process.pid, timeoutMs },
  };
  // It loads the texts of all meetings.
  const compiled = getCompileCacheDir();
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      fileURLToPath(new URL("./render-process.ts", import.meta.url)),
      JSON.stringify(job),
    ],
    {
      env: {
        PATH: "/usr/bin:/bin",
        MALLOC_ARENA_MAX: "2",
        ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) }),
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (output.includes("done")) return;
  // Nothing is printed by a process that is killed, such as by its watchdog.
  const reason = errors.trim() || `it ended early; ${timeoutMs / 1000} s are its limit`;
  throw new Error(`rendering "${meeting.title}" failed: ${reason}`);
}
