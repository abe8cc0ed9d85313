import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Watch } from "../../../server/media/render/protocol.ts";
import { demoMeetings } from "../meetings/index.ts";
import { cutShort } from "../script.ts";

/**
 * The program that makes one film: native media code runs in a process of its own here too. Its argument is a
 * `FilmJob` as JSON; it says `done` when the file is whole.
 */
export interface FilmJob {
  readonly title: string;
  readonly path: string;
  /** Null: all of the meeting. */
  readonly minutes: number | null;
  readonly watch: Watch;
}

const { title, path, minutes, watch } = JSON.parse(process.argv[2] ?? "") as FilmJob;
new Worker(new URL("../../../server/media/render/watchdog.ts", import.meta.url), {
  workerData: watch,
}).unref();
const meeting = demoMeetings.find((known) => known.title === title);
if (meeting === undefined) throw new Error(`there is no sample meeting ${title}`);
const { silenceLibraries } = await import("../../../server/media/render/libav.ts");
silenceLibraries();
const { makeFilm } = await import("./film.ts");
await makeFilm(minutes === null ? meeting : cutShort(meeting, minutes), path);
writeSync(1, "done\n");
// All is written; taking the libraries down in order takes time and may crash.
process.kill(process.pid, "SIGKILL");
