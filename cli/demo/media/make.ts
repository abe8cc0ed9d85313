import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { DemoMeeting } from "../types.ts";
import type { FilmJob } from "./child.ts";

/** Ten minutes take some five seconds of one core. */
const timeoutMs = 300_000;

/**
 * Makes the recording of a sample meeting in a process of its own, which the native libraries can't take others down
 * with. The same meeting gives the same file.
 * @param minutes null: all of it.
 * @throws Error with what the process said.
 */
export async function makeFilmFile(
  meeting: DemoMeeting,
  path: string,
  minutes: number | null,
): Promise<void> {
  const job: FilmJob = { title: meeting.title, path, minutes, watch: { parentPid: process.pid, timeoutMs } };
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      fileURLToPath(new URL("./child.ts", import.meta.url)),
      JSON.stringify(job),
    ],
    { env: { PATH: "/usr/bin:/bin", MALLOC_ARENA_MAX: "2" }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (!said.includes("done")) throw new Error(`"${meeting.title}" could not be filmed: ${complaint.trim()}`);
}
